"""The profiler: what ran when, for how long."""

from mindtorch._naming import adopt

from ._device import DeviceType
from .profile import kineto_available, profile, supported_activities, tensorboard_trace_handler
from .record import record_function
from .schedule import ProfilerAction, ProfilerActivity, schedule

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

adopt(globals())
