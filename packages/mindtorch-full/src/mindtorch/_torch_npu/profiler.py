"""`torch_npu.profiler`: the profiler of `torch`, with the vendor's options, which are checked and kept."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mindtorch import profiler
from mindtorch.profiler import ProfilerAction, schedule, tensorboard_trace_handler

__all__ = [
    "AiCMetrics", "ExportType", "HostSystem", "ProfilerAction", "ProfilerActivity", "ProfilerLevel", "profile", "schedule",
    "supported_activities", "supported_ai_core_metrics", "supported_export_type", "supported_profiler_level",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(Enum):
    """What is looked at: the host's operators, and the device's."""

    CPU = 0
    NPU = 1


class ProfilerLevel(Enum):
    """How much is recorded."""

    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics(Enum):
    """Which counters of the cores are read; these devices' are not, but for `AiCoreNone`."""

    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    ResourceConflictRatio = "ResourceConflictRatio"
    MemoryUB = "MemoryUB"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType(Enum):
    """The form of what is written."""

    Text = "text"
    Db = "db"


class HostSystem(Enum):
    """What is read of the host."""

    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


class _ExperimentalConfig:
    """The vendor's options. NotImplementedError for counters of the cores and databases, which are not read or written."""

    def __init__(
        self,
        profiler_level: Any = ProfilerLevel.Level0,
        aic_metrics: Any = AiCMetrics.AiCoreNone,
        export_type: Any = None,
        **options: Any,
    ) -> None:
        if aic_metrics not in (AiCMetrics.AiCoreNone, None):
            raise NotImplementedError(f"torch_npu.profiler: {aic_metrics} is not read")
        forms = export_type if isinstance(export_type, list) else [export_type or ExportType.Text]
        if ExportType.Db in forms:
            raise NotImplementedError("torch_npu.profiler: databases are not written")
        self.profiler_level = ProfilerLevel(profiler_level)
        self.options = options


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be looked at."""
    return set(ProfilerActivity)


def supported_profiler_level() -> set[ProfilerLevel]:
    """Return how much can be recorded."""
    return set(ProfilerLevel)


def supported_ai_core_metrics() -> set[AiCMetrics]:
    """Return which counters of the cores can be read."""
    return {AiCMetrics.AiCoreNone}


def supported_export_type() -> set[ExportType]:
    """Return the forms that can be written."""
    return {ExportType.Text}


class profile(profiler.profile):
    """`torch.profiler.profile` with the vendor's activities and options."""

    def __init__(self, *, activities: Any = None, experimental_config: Any = None, **options: Any) -> None:
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            raise TypeError("experimental_config must be a torch_npu.profiler._ExperimentalConfig")
        for activity in activities or ():
            if activity not in (*ProfilerActivity, *profiler.ProfilerActivity):
                raise ValueError(f"{activity} is no activity")
        # The launches of the device's operators are operators of the host: one activity sees both.
        super().__init__(activities=[profiler.ProfilerActivity.CPU], **options)
