"""`torch.autograd.profiler`: which ops ran, for how long, on what."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from mindtorch_dispatch.execute.profiling import FUNCTION, USER, Recording

from .._naming import adopt
from .._profiling.flops import flops
from .._profiling.record import record_function
from .._profiling.trace import write_trace
from .profiler_util import EventList, FunctionEvent

__all__ = ["EventList", "FunctionEvent", "KinetoStepTracker", "emit_itt", "emit_nvtx", "profile", "record_function"]


def event_list(recordings: Sequence[Recording], memory: bool, with_flops: bool, overloads: bool) -> EventList:
    """Return the recordings' events, times in microseconds from where the first began."""
    threads: dict[int, int] = {}
    origin = recordings[0].started if recordings else 0
    made = []
    for recording in recordings:
        for event in recording.events:
            arguments = event.arguments or []
            thread = threads.setdefault(event.thread, len(threads) + 1)
            made.append(
                FunctionEvent(
                    id=event.id,
                    name=event.name,
                    trace_name=event.name,
                    thread=thread,
                    start_us=(event.start - origin) / 1000,
                    end_us=(event.end - origin) / 1000,
                    overload_name=event.overload if overloads else "",
                    fwd_thread=thread if event.scope != FUNCTION and event.sequence >= 0 else 0,
                    input_shapes=[[] if a.type == "TensorList" else a.shape for a in arguments],
                    concrete_inputs=[argument.value for argument in arguments],
                    kwinputs={},
                    stack=event.stack,
                    scope=event.scope,
                    cpu_memory_usage=event.memory,
                    sequence_nr=event.sequence,
                    flops=flops(event.name, arguments) if with_flops else 0,
                    is_user_annotation=event.scope == USER,
                )
            )
    listed = EventList(made, profile_memory=memory, with_flops=with_flops)
    listed._build_tree()
    return listed


class profile:
    """Record the ops of the block, in this thread and in the backward passes it starts.

    Args:
        record_shapes: keep the shapes of arguments. with_flops: count arithmetic operations, which needs the shapes.
        profile_memory: count the bytes of tensors made and freed. with_stack: keep the program's frames.
        acc_events: entering again adds to the events of before.
    The other arguments choose torch's means of measuring devices, of which there is none here.

    >>> with torch.autograd.profiler.profile() as found:
    ...     _ = torch.ones(2) + 1
    >>> sorted({event.name for event in found.function_events if event.name.startswith("aten::add")})
    ['aten::add']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Any = None,
    ) -> None:
        self.enabled = enabled
        self.use_cuda = use_cuda
        self.use_device = None
        if not enabled:
            return
        if use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
            use_device = "cuda"
        if use_device in ("cuda", "xpu", "hpu", "mtia"):
            name = use_device.upper()
            warnings.warn(f"{name} is not available, disabling {name} profiling", stacklevel=2)
        elif use_device is not None:
            warnings.warn(f"The {use_device} is not a valid device option.", stacklevel=2)
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_cpu = use_cpu
        self.experimental_config = experimental_config
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters or {}
        self.acc_events = acc_events
        self._overloads = experimental_config is not None and experimental_config.capture_overload_names
        self._saved = False
        self.entered = False
        self.custom_trace_id_callback = custom_trace_id_callback
        self.trace_id = ""
        self._recordings: list[Recording] = []
        self._recording: Recording | None = None
        self._events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        if not self.acc_events:
            self._recordings = []
        self.trace_id = (self.custom_trace_id_callback or self.default_trace_id)()
        self._events = None
        self._recording = Recording(shapes=self.record_shapes, memory=self.profile_memory, stacks=self.with_stack)
        self._recording.start()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if self.enabled and self._recording is not None:
            self._recording.stop()
            self._recordings.append(self._recording)
            self._recording = None

    def again(self) -> None:
        """Allow the profile to be entered once more."""
        self.entered = False

    def default_trace_id(self) -> str:
        """Return a name for a trace."""
        return uuid.uuid4().hex.upper()

    @property
    def function_events(self) -> EventList:
        """The events; none before the block was entered."""
        if self._events is None:
            self._events = event_list(self._recordings, self.profile_memory, self.with_flops, self._overloads)
        return self._events

    def __repr__(self) -> str:
        return repr(self.function_events) if self._finished() else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return str(self.function_events) if self._finished() else "<unfinished torch.autograd.profile>"

    def _finished(self) -> bool:
        return self.enabled and (bool(self._recordings) or self._events is not None)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """Return the events as a table; see `EventList.table`."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the sums over events of one name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> Any:
        """Return the sum over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the events' own times, in microseconds."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(
        self, path: str, metadata: dict[str, Any] | None = None, use_python_export: bool = False
    ) -> None:
        """Write the events for `chrome://tracing`; `metadata` joins the file's own entries."""
        if self._saved:
            raise RuntimeError("Trace is already saved.")
        self._saved = True
        write_trace(path, self._recordings, {"trace_id": self.trace_id, **self._flags(), **(metadata or {})})

    def _flags(self) -> dict[str, int]:
        return {
            name: 1 for name in ("profile_memory", "record_shapes", "with_stack", "with_flops") if getattr(self, name)
        }

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks for flame graphs; AssertionError without `with_stack=True`."""
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.function_events.export_stacks(path, metric)


class emit_nvtx:
    """Marks for NVIDIA's tools, which a build without CUDA has not.

    >>> with torch.autograd.profiler.emit_nvtx(enabled=False) as given:
    ...     print(type(given).__name__)
    NoneType
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_nvtx | None:
        if self.enabled:
            raise AssertionError("Torch not compiled with CUDA enabled")
        return None

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was marked."""


class emit_itt:
    """Marks for Intel's tools, whose library is not there.

    >>> with torch.autograd.profiler.emit_itt(enabled=False) as given:
    ...     print(type(given).__name__)
    NoneType
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes

    def __enter__(self) -> emit_itt | None:
        return self._refused() if self.enabled else None

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was marked."""

    @staticmethod
    def _refused() -> NoReturn:
        raise NotImplementedError(
            "torch.autograd.profiler.emit_itt: MindTorch has no connection to Intel's ITT library"
        )


class KinetoStepTracker:
    """Counts steps of several kinds of callers; the program's step is that of whoever is furthest.

    >>> from torch.autograd.profiler import KinetoStepTracker
    >>> KinetoStepTracker.init_step_count("example")
    >>> before = KinetoStepTracker.current_step()
    >>> KinetoStepTracker.increment_step("example") - before
    1
    >>> KinetoStepTracker.erase_step_count("example")
    True
    """

    _current_step = 0
    _step_dict: dict[str, int] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Start counting for a caller where the program is."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Stop counting for a caller; returns whether it was counted."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step of a caller and return the program's."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        furthest = max(cls._step_dict.values())
        if furthest > cls._current_step:
            if furthest - cls._current_step > 1:
                warnings.warn(
                    f"Profiler step count has increased more than 1 - current_step = {cls._current_step} step dict =  "
                    f"{cls._step_dict}",
                    stacklevel=2,
                )
            cls._current_step = furthest
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """Return the program's step."""
        return cls._current_step


adopt(globals())
