"""Records operators that have a handler as groups of tasks of their own, and replaces those when their arguments change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch.npu._npugraph_handlers.npugraph_handler import _NPU_GRAPH_OP_HANDLERS
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch_npu import graph_tasks, runtime
from mindtorch_npu.stream import Stream, StreamContext, current_stream

__all__ = ["GraphDispatchMode", "GraphDispatchRecord"]


_streams: list[Stream] = []
"""The stream on which all graphs are updated, made when it is first asked for."""
runtime.at_exit(_streams.clear)


@dataclass
class GraphDispatchRecord:
    """One recorded call: by which event its run waits for an update, and what it was called with."""

    event: graph_tasks.ExternalEvent
    handle: graph_tasks.TaskGroup
    args: list[Any]
    kwargs: dict[str, Any]
    op_cache_entry: Any


class GraphDispatchMode(TorchDispatchMode):
    """Is on while a graph is recorded with `auto_dispatch_capture`."""

    _streams: list[Stream] = []

    def __init__(self) -> None:
        super().__init__()
        self.graph_dispatch_records: list[GraphDispatchRecord] = []

    @property
    def update_stream(self) -> Stream:
        """The stream on which arguments are changed, one for all graphs."""
        if not _streams:
            _streams.append(Stream())
        return _streams[0]

    @classmethod
    def is_infra_mode(cls) -> bool:
        """It belongs to the machinery."""
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {} if kwargs is None else dict(kwargs)
        handler = _NPU_GRAPH_OP_HANDLERS.get(func.__name__)
        wanted: Callable[..., bool] | None = getattr(handler, "should_handle", None)
        if handler is None or (wanted is not None and not wanted(func, args, kwargs)):
            return func(*args, **kwargs)
        stream, event = current_stream(), graph_tasks.ExternalEvent()
        event.wait(stream)
        event.reset(stream)
        called, args, kwargs = handler.prepare_capture(func, args, kwargs)
        graph_tasks.graph_task_group_begin(stream)
        result = called(*args, **kwargs)
        handle = graph_tasks.graph_task_group_end(stream)
        self.graph_dispatch_records.append(GraphDispatchRecord(event, handle, list(args), kwargs, called))
        return handler.postprocess_result(result, kwargs)

    def update_capture_record(self, cpu_update_input: Sequence[Mapping[str, Any]]) -> None:
        """Replace the recorded calls' arguments: one mapping for all of them, or one for each."""
        records = self.graph_dispatch_records
        given = list(cpu_update_input) * (len(records) if len(cpu_update_input) == 1 else 1)
        if len(given) != len(records):
            raise RuntimeError(
                f"Currently, there are {len(records)} operators that need to be updated by capture, and there are only "
                f"{len(given)} elements in the incoming cpu_update_input list"
            )
        with StreamContext(self.update_stream):
            for record, changes in zip(records, given, strict=True):
                self._update(record, changes)

    def _update(self, record: GraphDispatchRecord, changes: Mapping[str, Any]) -> None:
        handler = _NPU_GRAPH_OP_HANDLERS.get(record.op_cache_entry.__name__)
        if handler is None:
            raise RuntimeError(f"No handler for recorded op: {record.op_cache_entry.__name__}.")
        record.kwargs.update({word: value for word, value in changes.items() if word in record.kwargs})
        handler.update_args(record, changes)
        stream = self.update_stream
        graph_tasks.graph_task_update_begin(stream, record.handle)
        try:
            record.op_cache_entry(*record.args, **record.kwargs)
        finally:
            graph_tasks.graph_task_update_end(stream)
        record.event.record(stream)
