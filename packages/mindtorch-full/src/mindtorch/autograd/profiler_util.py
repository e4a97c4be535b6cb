"""What a profile consists of: events, their averages, lists of them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from typing import Any

from .._naming import adopt
from .._profiling.device import DeviceType
from ._event import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval, Kernel, StringTable
from ._event_table import TableOptions, table_text
from ._event_table import format_time as _format_time  # noqa: F401 (a name of torch)

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel", "StringTable"]


class EventList(list):  # type: ignore[type-arg]
    """Events in the order they began, or averages.

    >>> with torch.autograd.profiler.profile() as found:
    ...     _ = torch.ones(2) + 1
    ...     _ = torch.ones(2) + 1
    >>> type(found.function_events).__name__
    'EventList'
    >>> [event.count for event in found.function_events.key_averages() if event.key == "aten::add"]
    [2]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._use_device = kwargs.pop("use_device", None)
        self._profile_memory = kwargs.pop("profile_memory", False)
        self._with_flops = kwargs.pop("with_flops", False)
        super().__init__(*args, **kwargs)
        self._tree_built = False

    def _build_tree(self) -> None:
        """Say of every event inside which other it ran, and drop those that only repeat their parent."""
        synchronous = [event for event in self if not event.is_async and event.device_type == DeviceType.CPU]
        synchronous.sort(key=lambda event: event.thread)
        for _, run in itertools.groupby(synchronous, key=lambda event: (event.thread, event.node_id)):
            events = sorted(run, key=lambda event: (event.time_range.start, -event.time_range.end))
            above: list[FunctionEvent] = []
            for event in events:
                while above and event.time_range.start >= above[-1].time_range.end:
                    above.pop()
                if above and event.time_range.end <= above[-1].time_range.end:
                    above[-1].append_cpu_child(event)
                    event.set_cpu_parent(above[-1])
                    above.append(event)
                elif not above:
                    above.append(event)
        while self._remove_repeated():
            pass
        self._tree_built = True

    def _remove_repeated(self) -> bool:
        gone = set()
        for event in self:
            parent = event.cpu_parent
            if parent is not None and parent.name == event.name and len(parent.cpu_children) == 1:
                parent.cpu_children = event.cpu_children
                parent.kernels = event.kernels
                for child in event.cpu_children:
                    child.cpu_parent = parent
                gone.add(id(event))
        self[:] = [event for event in self if id(event) not in gone]
        return bool(gone)

    @property
    def self_cpu_time_total(self) -> float:
        """Sum of the events' own times."""
        return sum(event.self_cpu_time_total for event in self)

    def __str__(self) -> str:
        return self.table()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """Return the events as a table, `row_limit` of them, the largest of `sort_by` first."""
        return table_text(
            self,
            TableOptions(
                sort_by,
                row_limit,
                max_src_column_width,
                max_name_column_width,
                max_shapes_column_width,
                header,
                top_level_events_only,
                time_unit,
                self._profile_memory,
                self._with_flops,
            ),
        )

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return the sums over events of one name (and of equal shapes, innermost frames, overload, if asked for)."""
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        sums: dict[Any, FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            key: list[Any] = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += event.stack[:group_by_stack_n]
            sums[tuple(key)].add(event)
        averages = EventList(
            sums.values(),
            use_device=self._use_device,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
        )
        for average in averages:
            average.stack = average.stack[:group_by_stack_n] if group_by_stack_n > 0 else []
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """Return the sum over all events, under the key `Total`."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for `chrome://tracing`."""
        shown = [
            {
                "name": event.trace_name,
                "ph": "X",
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "tid": f"node_id:{event.node_id}, thread_id:{event.thread} " if event.is_remote else event.thread,
                "pid": "CPU functions",
                "args": {},
            }
            for event in self
            if event.trace_name is not None
        ]
        with open(path, "w") as file:
            json.dump(shown, file)

    def supported_export_stacks_metrics(self) -> list[str]:
        """Return what `export_stacks` writes."""
        return ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def export_stacks(self, path: str, metric: str) -> None:
        """Write one line per event, `outermost;...;innermost value`, for drawing flame graphs.

        Raises ValueError for a metric that is none.
        """
        known = self.supported_export_stacks_metrics()
        if metric not in known:
            raise ValueError(f"metric should be one of: {known}")
        name = metric.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
        spaces = str.maketrans(" ;\t\n", "____")
        with open(path, "w") as file:
            for event in self:
                value = int(getattr(event, name))
                if event.stack and value > 0:
                    frames = ";".join(frame.translate(spaces) for frame in reversed(event.stack))
                    file.write(f"{frames} {value}\n")


adopt(globals())
