"""Tasks of a recorded graph that are replaced between its runs, and the events by which a graph waits for that."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import check
from mindtorch_npu.acl.recording import call, recorded, recording_of
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.device import exchange
from mindtorch_npu.stream import Event, Stream, current_stream

EXTERNAL = 0x20


@dataclass(frozen=True)
class TaskGroup:
    """Tasks within a graph: the runtime's handle, and the pool in which what replaces them finds its memory."""

    handle: int
    pool: tuple[int, int]


_updating: dict[int, TaskGroup] = {}
"""What streams replace now."""


def graph_task_group_begin(stream: Stream) -> None:
    """Let what a recorded stream is given from now on be a group that can be replaced later.

    >>> graph, stream = torch.npu.NPUGraph(), torch.npu.Stream()
    >>> x = torch.ones(2, device="npu")
    >>> with torch.npu.graph(graph, stream=stream):
    ...     torch.npu.graph_task_group_begin(stream)
    ...     y = x * 3
    ...     handle = torch.npu.graph_task_group_end(stream)
    >>> type(handle).__name__
    'TaskGroup'
    """
    call("aclmdlRICaptureTaskGrpBegin", runtime.on(stream.device_index), stream.npu_stream)


def graph_task_group_end(stream: Stream) -> TaskGroup:
    """End the group and return what `graph_task_update_begin` is given.

    >>> graph, stream = torch.npu.NPUGraph(), torch.npu.Stream()
    >>> x = torch.ones(2, device="npu")
    >>> with torch.npu.graph(graph, stream=stream):
    ...     torch.npu.graph_task_group_begin(stream)
    ...     y = x * 3
    ...     handle = torch.npu.graph_task_group_end(stream)
    >>> graph.replay()
    >>> y.tolist()
    [3.0, 3.0]
    """
    acl, made = runtime.on(stream.device_index), ctypes.c_void_p()
    call("aclmdlRICaptureTaskGrpEnd", acl, stream.npu_stream, ctypes.addressof(made))
    handle = recording_of(stream.npu_stream, acl)
    pool = next(graph.pool() for graph in recorded.values() if graph.recording_handle == handle)
    return TaskGroup(made.value or 0, pool)


def graph_task_update_begin(stream: Stream, handle: TaskGroup) -> None:
    """Let what a stream is given from now on take the place of a group's tasks; it is not run."""
    acl = runtime.on(stream.device_index)
    call("aclmdlRICaptureTaskUpdateBegin", acl, stream.npu_stream, handle.handle)
    _updating[stream.npu_stream] = handle
    # The memory is the graph's: it must not be given to others while the graph can run.
    allocator_of(stream.device_index).begin_pool(handle.pool, lambda own: own in _updating)


def graph_task_update_end(stream: Stream) -> None:
    """End it: the next run of the graph runs the new tasks. AclError where they are not of the same operators."""
    handle = _updating.pop(stream.npu_stream, None)
    if handle is not None:
        allocator_of(stream.device_index).end_pool(handle.pool)
    call("aclmdlRICaptureTaskUpdateEnd", runtime.on(stream.device_index), stream.npu_stream)


class ExternalEvent(Event):
    """An event that tasks within a graph wait for, and that is recorded outside of it. `reset` lets it be waited for again.

    >>> event = torch.npu.ExternalEvent()
    >>> isinstance(event, torch.npu.Event)
    True
    """

    def __init__(self) -> None:
        super().__init__(external=True)

    def _made(self, stream: Stream | None) -> tuple[Any, Stream]:
        """Return pyACL, and the stream that is meant; the event is made when it is first used."""
        stream = current_stream() if stream is None else stream
        acl = runtime.on(stream.device_index)
        if not self._handle:
            self._handle, code = acl.rt.create_event_with_flag(EXTERNAL)
            self._index = stream.device_index
            check(code, f"acl.rt.create_event_with_flag({EXTERNAL})", acl)
        return acl, stream

    def _tell(self, name: str, stream: Stream | None, *, stream_first: bool = False) -> None:
        before = exchange((current_stream() if stream is None else stream).device_index)
        try:
            acl, meant = self._made(stream)
            pair = (self._handle, meant.npu_stream)
            check(getattr(acl.rt, name)(*(reversed(pair) if stream_first else pair)), f"acl.rt.{name}", acl)
        finally:
            exchange(before)

    def record(self, stream: Stream | None = None) -> None:
        """Let those that wait go on when a stream, by default the current one, is here."""
        self._tell("record_event", stream)

    def wait(self, stream: Stream | None = None) -> None:
        """Let what is enqueued from now on wait until the event is recorded."""
        self._tell("stream_wait_event", stream, stream_first=True)

    def reset(self, stream: Stream | None = None) -> None:
        """Let the event be as if it was not recorded, when a stream is here."""
        self._tell("reset_event", stream)


__all__ = [
    "ExternalEvent",
    "TaskGroup",
    "graph_task_group_begin",
    "graph_task_group_end",
    "graph_task_update_begin",
    "graph_task_update_end",
]
