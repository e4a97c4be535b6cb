"""`torch_npu.profiler`: the profiler of `torch`, with the vendor's options, which are checked and kept."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mindtorch import profiler as plain
from mindtorch._submodules import offer
from mindtorch._torch_npu._absent import placeholders
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


class Schedule:
    """When to look: after so many steps, of which the first are left out, some for warming up and some recorded."""

    def __init__(
        self, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
    ) -> None:
        self._options = {
            "wait": wait, "active": active, "warmup": warmup, "repeat": repeat, "skip_first": skip_first,
            "skip_first_wait": skip_first_wait,
        }  # fmt: skip
        self._action = schedule(**self._options)

    def __call__(self, step: int) -> ProfilerAction:
        """Return what to do at a step. ValueError for a negative one."""
        if step < 0:
            raise ValueError("Invalid parameter step, which must be not less than 0.")
        return self._action(step)


class profile(plain.profile):
    """`torch.profiler.profile` with the vendor's activities and options."""

    @classmethod
    def enable_profiler_in_child_thread(cls, **options: bool) -> None:
        """Look at this thread too: advice, every thread is looked at. TypeError for what is no option."""
        known = {"record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"}
        unknown = sorted(set(options) - known)
        if unknown:
            raise TypeError(f"enable_profiler_in_child_thread() got an unexpected keyword argument '{unknown[0]}'")

    @classmethod
    def disable_profiler_in_child_thread(cls) -> None:
        """Look at this thread no longer: advice, it is looked at for as long as the profiler runs."""

    def __init__(self, *, activities: Any = None, experimental_config: Any = None, **options: Any) -> None:
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            raise TypeError("experimental_config must be a torch_npu.profiler._ExperimentalConfig")
        for activity in activities or ():
            if activity not in (*ProfilerActivity, *plain.ProfilerActivity):
                raise ValueError(f"{activity} is no activity")
        # The launches of the device's operators are operators of the host: one activity sees both.
        super().__init__(activities=[plain.ProfilerActivity.CPU], **options)


_dynamic = {"cur_step": 0}


def _set_state(state_step: dict[str, int]) -> None:
    """Say which step a program that goes on is at. TypeError and ValueError for what is no step."""
    if not isinstance(state_step, dict):
        raise TypeError("Dynamic profiler state_step must be dict.")
    step = state_step.get("cur_step", 0)
    if not isinstance(step, int) or step < 0:
        raise ValueError("Dynamic profiler cur_step must be a non-negative integer.")
    _dynamic["cur_step"] = step


def _step() -> None:
    """Count a step."""
    _dynamic["cur_step"] += 1


offer(
    globals(),
    {
        "dynamic_profile": {
            **placeholders("torch_npu.profiler.dynamic_profile"), "set_state": _set_state, "step": _step,
        },
        "experimental_config": (
            "AiCMetrics ExportType HostSystem ProfilerLevel _ExperimentalConfig supported_ai_core_metrics "
            "supported_export_type supported_profiler_level"
        ),
        "profiler": {
            **placeholders("torch_npu.profiler.profiler"), "profile": profile, "supported_activities": supported_activities,
            "tensorboard_trace_handler": tensorboard_trace_handler,
        },
        "profiler_interface": "supported_activities",
        "scheduler": "ProfilerAction Schedule",
    },
)  # fmt: skip
