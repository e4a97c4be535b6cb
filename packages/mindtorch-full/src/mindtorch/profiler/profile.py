"""`profile`: not recording operators yet, and saying so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .schedule import ProfilerActivity


def supported_activities() -> set[ProfilerActivity]:
    """The kinds of work that can be recorded: labels on the CPU."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Whether PyTorch's own tracing library is there; it never is."""
    return False


class profile:
    """A recorder of operators. It can be made, so that programs that only mention it run; it cannot be started."""

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Any = None,
        on_trace_ready: Any = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities = set(activities) if activities else supported_activities()
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready

    def start(self) -> None:
        """Refuse: operators are not recorded yet."""
        raise NotImplementedError(
            "torch.profiler.profile: MindTorch does not record operators yet; "
            "labels of record_function can be collected through mindtorch.profiler.record.listeners"
        )

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        """Nothing was started."""


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Any:
    """Refuse: there are no traces to write."""
    raise NotImplementedError("torch.profiler.tensorboard_trace_handler: MindTorch does not write traces")
