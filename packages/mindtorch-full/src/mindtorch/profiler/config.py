"""Settings of the profiler that torch calls experimental."""

from __future__ import annotations

from collections.abc import Sequence


class ExperimentalConfig:
    """Settings of a profile; `capture_overload_names` is the only one that concerns work on the CPU here.

    Raises NotImplementedError for what would change the trace and is not here.
    """

    def __init__(
        self,
        profiler_metrics: Sequence[str] = (),
        profiler_measure_per_kernel: bool = False,
        verbose: bool = False,
        performance_events: Sequence[str] = (),
        enable_cuda_sync_events: bool = False,
        adjust_profiler_step: bool = False,
        disable_external_correlation: bool = False,
        profile_all_threads: bool = False,
        capture_overload_names: bool = False,
        record_python_gc_info: bool = False,
        expose_kineto_event_metadata: bool = False,
        custom_profiler_config: str = "",
        adjust_timestamps: bool = False,
        trace_only: bool = False,
    ) -> None:
        wanted = {
            "performance_events": performance_events, "adjust_profiler_step": adjust_profiler_step,
            "profile_all_threads": profile_all_threads, "record_python_gc_info": record_python_gc_info,
            "custom_profiler_config": custom_profiler_config, "trace_only": trace_only,
        }  # fmt: skip
        for name, value in wanted.items():
            if value:
                raise NotImplementedError(f"torch.profiler._ExperimentalConfig: {name} is not supported")
        self.profiler_metrics = tuple(profiler_metrics)
        self.profiler_measure_per_kernel = profiler_measure_per_kernel
        self.verbose = verbose
        self.enable_cuda_sync_events = enable_cuda_sync_events
        self.disable_external_correlation = disable_external_correlation
        self.capture_overload_names = capture_overload_names
        self.expose_kineto_event_metadata = expose_kineto_event_metadata
        self.adjust_timestamps = adjust_timestamps
