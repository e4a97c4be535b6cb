"""The profiler: what ran when, for how long."""

from mindtorch._naming import adopt

from .._profiling.device import DeviceType, kineto_available
from .._profiling.record import record_function
from . import itt as itt
from . import profiler as profiler
from .config import ExperimentalConfig as _ExperimentalConfig  # noqa: F401 (a name of torch)
from .profiler import profile, supported_activities, tensorboard_trace_handler
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
