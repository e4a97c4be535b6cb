"""The profiler: what ran when, for how long."""

from mindtorch._naming import adopt

from .._profiling.device import DeviceType, kineto_available
from .._profiling.record import record_function
from . import itt, profiler
from .config import ExperimentalConfig as _ExperimentalConfig
from .profiler import profile, supported_activities, tensorboard_trace_handler
from .schedule import ProfilerAction, ProfilerActivity, schedule

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "_ExperimentalConfig",
    "itt",
    "kineto_available",
    "profile",
    "profiler",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

adopt(globals())
