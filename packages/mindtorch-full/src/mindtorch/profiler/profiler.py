"""`profile`: records ops, all the time or by a schedule, and hands the events over."""

from __future__ import annotations

import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from .._naming import adopt
from .._profiling.record import record_function
from ..autograd import profiler as _profiler
from ..autograd.profiler_util import EventList
from .schedule import ProfilerAction, ProfilerActivity
from .schedule import schedule as schedule

__all__ = [
    "ProfilerAction",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_A = ProfilerAction
_PREPARE, _START, _STOP, _READY = "prepare_trace", "start_trace", "stop_trace", "_trace_ready"
_STEPS: dict[tuple[ProfilerAction, ProfilerAction | None], tuple[str, ...]] = {
    (_A.NONE, _A.WARMUP): (_PREPARE,),
    (_A.NONE, _A.RECORD): (_PREPARE, _START),
    (_A.NONE, _A.RECORD_AND_SAVE): (_PREPARE, _START),
    (_A.WARMUP, _A.NONE): (_START, _STOP),
    (_A.WARMUP, _A.RECORD): (_START,),
    (_A.WARMUP, _A.RECORD_AND_SAVE): (_START,),
    (_A.RECORD, _A.NONE): (_STOP,),
    (_A.RECORD, _A.WARMUP): (_STOP,),
    (_A.RECORD_AND_SAVE, _A.NONE): (_STOP, _READY),
    (_A.RECORD_AND_SAVE, _A.WARMUP): (_STOP, _READY, _PREPARE),
    (_A.RECORD_AND_SAVE, _A.RECORD): (_STOP, _READY, _PREPARE, _START),
    (_A.RECORD_AND_SAVE, _A.RECORD_AND_SAVE): (_STOP, _READY, _PREPARE, _START),
    (_A.WARMUP, None): (_START, _STOP),
    (_A.RECORD, None): (_STOP, _READY),
    (_A.RECORD_AND_SAVE, None): (_STOP, _READY),
}
"""What happens between the action of one step and that of the next, None being the end."""

_INCORRECT = {(_A.WARMUP, _A.NONE), (_A.RECORD, _A.NONE), (_A.RECORD, _A.WARMUP)}


def _default_schedule_fn(_: int) -> ProfilerAction:
    """Record every step."""
    return _A.RECORD


def supported_activities() -> set[ProfilerActivity]:
    """The kinds of work that can be recorded: that of the CPU.

    >>> torch.profiler.ProfilerActivity.CPU in torch.profiler.supported_activities()
    True
    """
    return {ProfilerActivity.CPU}


class profile:
    """Record the ops of the block. With a `schedule`, `step()` says where the program is, and every cycle's events go to
    `on_trace_ready(profile)`.

    >>> with torch.profiler.profile() as seen:
    ...     _ = torch.ones(2).add(1)
    >>> [event.key for event in seen.key_averages() if event.key == "aten::add"]
    ['aten::add']
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
        if execution_trace_observer is not None:
            raise NotImplementedError("torch.profiler.profile: MindTorch has no execution trace observers")
        self.activities = set(activities) if activities is not None else supported_activities()
        if not any(isinstance(one, ProfilerActivity) for one in self.activities):
            raise AssertionError("No valid profiler activities found")
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_flops = with_flops
        self.with_modules = with_modules
        self.acc_events = acc_events
        self.experimental_config = experimental_config
        self.custom_trace_id_callback = custom_trace_id_callback
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: record_function | None = None
        self.profiler: _profiler.profile | None = None
        self.preset_metadata: dict[str, str] = {}
        self._metadata: dict[str, Any] = {}

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the schedule's first step."""
        self._change(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End, wherever the schedule is."""
        self._end_step()
        self._change(self.current_action, None)

    def step(self) -> None:
        """Say that a step of the program is over."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._change(before, self.current_action)
        _profiler.KinetoStepTracker.increment_step("Profiler Step")
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _change(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        if (before, after) in _INCORRECT:
            name = "NONE" if after is None else after.name
            warnings.warn(f"Incorrect schedule: {before.name} followed by {name}", stacklevel=3)
        for name in _STEPS.get((before, after), ()):
            getattr(self, name)()

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def prepare_trace(self) -> None:
        """Make ready for a cycle; without `acc_events` the events of the one before are forgotten."""
        if self.profiler is not None and self.acc_events:
            self.profiler.again()
            return
        if self.profiler is not None and self.record_steps:
            warnings.warn(
                "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                "reported. To keep events across cycles, set acc_events=True.",
                stacklevel=3,
            )
        self.profiler = _profiler.profile(
            record_shapes=self.record_shapes,
            profile_memory=self.profile_memory,
            with_stack=self.with_stack,
            with_flops=self.with_flops,
            use_kineto=True,
            acc_events=self.acc_events,
            custom_trace_id_callback=self.custom_trace_id_callback,
            experimental_config=self.experimental_config,
        )

    def start_trace(self) -> None:
        """Record from now on."""
        self._ready("starting trace").__enter__()

    def stop_trace(self) -> None:
        """Record no more."""
        self._ready("stopping trace").__exit__(None, None, None)

    def _ready(self, before: str) -> _profiler.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {before}")
        return self.profiler

    def events(self) -> EventList:
        """Return the events."""
        return self._ready("accessing events").function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the sums over events of one name; see `EventList.key_averages`."""
        found = self._ready("getting key averages")
        return _by_step(found.function_events).key_averages(
            group_by_input_shape, group_by_stack_n, group_by_overload_name
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write the trace to `path`, compressed where it ends in `.gz`."""
        found = self._ready("exporting chrome trace")
        preset = {name: json.loads(value) for name, value in self.preset_metadata.items()}
        found.export_chrome_trace(str(path), {**preset, **self._metadata})

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks for flame graphs."""
        self._ready("exporting stacks").export_stacks(str(path), metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text into the trace file."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put a JSON value, given as text, into the trace file."""
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """As `add_metadata_json`, ahead of the trace."""
        self.preset_metadata[key] = value

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pause recording, or go on."""
        if self.profiler is None or self.profiler._recording is None or ProfilerActivity.CPU not in set(activities):
            return
        self.profiler._recording.pause(not enable)

    def get_trace_id(self) -> str | None:
        """Return the name of the trace, None before there is one."""
        return None if self.profiler is None else self.profiler.trace_id

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Let `callback` name the traces."""
        self.custom_trace_id_callback = callback

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Refuse: torch has deprecated it, and nothing here draws it."""
        raise NotImplementedError("torch.profiler.profile.export_memory_timeline is not supported; see `events()`")


def _by_step(events: EventList) -> EventList:
    """Return the events with the labels of all steps under one name, so that they are summed."""
    for event in events:
        if event.is_user_annotation and event.name.startswith("ProfilerStep#"):
            event.name = "ProfilerStep*"
    return events


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[profile], None]:
    """Return an `on_trace_ready` that writes a trace file per cycle into `dir_name`.

    >>> callable(torch.profiler.tensorboard_trace_handler("traces"))
    True
    """

    def handler(prof: profile) -> None:
        if not os.path.isdir(dir_name):
            try:
                os.makedirs(dir_name, exist_ok=True)
            except OSError as error:
                raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


adopt(globals())
