"""The profiler: what ran when, for how long."""

from mindtorch._naming import adopt

from . import profiler
from ._device import DeviceType
from .config import ExperimentalConfig as _ExperimentalConfig
from .profiler import kineto_available, profile, supported_activities, tensorboard_trace_handler
from .record import record_function
from .schedule import ProfilerAction, ProfilerActivity, schedule

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "_ExperimentalConfig",
    "kineto_available",
    "profile",
    "profiler",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

adopt(globals())
