"""Streams, events, and which stream is current in a thread."""

from __future__ import annotations

import ctypes
import threading
import weakref
from contextlib import suppress
from typing import Any

from mindtorch_npu import runtime, stream_pools, tracing
from mindtorch_npu.acl.errors import AclError, check
from mindtorch_npu.device import current_device, exchange, make_device
from mindtorch_npu.device import device_index as _device_index
from mindtorch_npu.stream_pools import priority_range
from mindtorch_npu.stream_pools import stream_priority_range as stream_priority_range

SYNC, TIME_LINE, IPC = 1, 8, 0x40
DEVICE_TYPE = 20
"""The number of the device type in torch's numbers of streams."""


class _Thread(threading.local):
    def __init__(self) -> None:
        self.current: dict[int, Stream] = {}


_thread = _Thread()
_lock = threading.Lock()
_defaults: dict[int, Stream] = {}
_events: weakref.WeakSet[Event] = weakref.WeakSet()
"""Those that have been recorded."""


def _destroy_all() -> None:
    """Give back every event and stream that was made here, a device's default stream last."""
    for event in list(_events):
        event._destroy()
    handles = stream_pools.forget()
    for index, stream in _defaults.items():
        handles.setdefault(index, []).append(stream.npu_stream)
    _defaults.clear()
    for index, made in handles.items():
        acl = runtime.on(index)
        for handle in made:
            acl.rt.destroy_stream(handle)


runtime.at_exit(_destroy_all)


def _named(number: int, index: int | None, device_type: int | None) -> tuple[int, int]:
    """Return device and handle of a stream by its number."""
    if device_type != DEVICE_TYPE:
        raise RuntimeError(f"a stream of device type {DEVICE_TYPE} was expected, not of {device_type}")
    if index is None or not 0 <= index < runtime.device_count():
        raise RuntimeError(f"there is no device {index} to have a stream of the number {number}")
    return index, default_stream(index).npu_stream if number == 0 else stream_pools.handle_of(number, index)


class Stream:
    """An order of execution on a device. Streams run beside each other; `wait_*` puts them in order.

    As a context manager it is current within the block. A `priority` below 0 is of streams of their own. `npu_stream` is
    the handle of one that is there already; `stream_id`, `device_index` and `device_type` together name one, too.

    Raises AclError for a device that is not there, RuntimeError for a stream that is not.
    """

    def __init__(
        self,
        device: object = None,
        priority: int = 0,
        *,
        npu_stream: int | None = None,
        stream_id: int | None = None,
        device_index: int | None = None,
        device_type: int | None = None,
        is_sync_launch: int = False,
    ) -> None:
        self._entered: list[StreamContext] = []
        if stream_id is not None:
            self._index, self._handle = _named(stream_id, device_index, device_type)
            return
        self._index = _device_index(device)
        before = exchange(self._index)
        try:
            kind = (
                stream_pools.SYNC_LAUNCH
                if is_sync_launch
                else stream_pools.HIGH
                if priority < 0
                else stream_pools.NORMAL
            )
            self._handle = stream_pools.pooled(self._index, kind) if npu_stream is None else npu_stream
        finally:
            exchange(before)

    @property
    def npu_stream(self) -> int:
        """ACL's handle. A device's default stream has one of its own: ACL's stream 0 cannot be recorded."""
        return self._handle

    @property
    def stream_id(self) -> int:
        """The number of the stream among its device's, 0 for the default stream."""
        default = _defaults.get(self._index)
        if default is not None and default._handle == self._handle:
            return 0
        return stream_pools.number_of(self._handle, self._index)

    @property
    def device_type(self) -> int:
        """The number of the device type."""
        return DEVICE_TYPE

    @property
    def _as_parameter_(self) -> Any:
        return ctypes.c_void_p(self._handle)

    @property
    def device_index(self) -> int:
        """The index of the stream's device."""
        return self._index

    @property
    def device(self) -> Any:
        """The stream's device."""
        return make_device(self._index)

    @property
    def priority(self) -> int:
        """0."""
        return 0

    @classmethod
    def priority_range(cls) -> tuple[int, int]:
        """Return the least and the greatest priority."""
        return priority_range()

    def _acl(self) -> Any:
        return runtime.on(self._index)

    def query(self) -> bool:
        """Return whether all that was enqueued has been done. Raises AclError for what failed."""
        before = exchange(self._index)
        try:
            acl = self._acl()
            status, code = acl.rt.stream_query(self._handle)
            check(code, f"acl.rt.stream_query({self._handle:#x})", acl)
            return bool(status == 0)
        finally:
            exchange(before)

    def synchronize(self) -> None:
        """Wait until all that was enqueued has been done. Raises AclError for what failed."""
        before = exchange(self._index)
        try:
            acl = self._acl()
            check(acl.rt.synchronize_stream(self._handle), f"acl.rt.synchronize_stream({self._handle:#x})", acl)
            tracing.tell("stream_synchronization", self._handle)
        finally:
            exchange(before)

    def record_event(self, event: Event | None = None) -> Event:
        """Mark this place in the stream and return the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what is enqueued from now on wait for the event."""
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let what is enqueued from now on wait for what has been enqueued to `stream`."""
        self.wait_event(stream.record_event())

    def __enter__(self) -> Stream:
        context = StreamContext(self)
        context.__enter__()
        self._entered.append(context)
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.pop().__exit__(*error)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self._handle, self._index) == (other._handle, other._index)

    def __hash__(self) -> int:
        return hash((self._handle, self._index))

    def __repr__(self) -> str:
        return f"<torch_npu.npu.{type(self).__name__} device=npu:{self._index} npu_stream={self._handle:#x}>"


class Event:
    """A mark in a stream: to wait for, to ask for, to measure time with. ACL's event is made at the first `record`."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        self.enable_timing = bool(enable_timing)
        self.blocking, self.interprocess, self.external = bool(blocking), bool(interprocess), bool(external)
        self._handle = 0
        self._index: int | None = None

    @property
    def npu_event(self) -> int:
        """ACL's handle; 0 before the first `record`."""
        return self._handle

    @property
    def device(self) -> Any:
        """The device of the stream in which the event was recorded, None before."""
        return None if self._index is None else make_device(self._index)

    def record(self, stream: Stream | None = None) -> None:
        """Mark the present end of a stream, by default the current one. May be done again: the last counts."""
        stream = current_stream() if stream is None else stream
        if self._index is not None and self._index != stream.device_index:
            raise RuntimeError(
                f"Event device {self._index} does not match recording stream's device {stream.device_index}."
            )
        before = exchange(stream.device_index)
        try:
            acl = runtime.on(stream.device_index)
            if not self._handle:
                flags = SYNC | (TIME_LINE if self.enable_timing else 0)
                create = getattr(acl.rt, "create_event_ex_with_flag", None) or acl.rt.create_event_with_flag
                handle, code = create(flags)
                check(code, f"acl.rt.{create.__name__}({flags})", acl)
                self._handle, self._index = handle, stream.device_index
                _events.add(self)
                tracing.tell("event_creation", self._handle)
            check(acl.rt.record_event(self._handle, stream.npu_stream), "acl.rt.record_event", acl)
            tracing.tell("event_record", self._handle, stream.npu_stream)
        finally:
            exchange(before)

    def wait(self, stream: Stream | None = None) -> None:
        """Let what is enqueued from now on to a stream, by default the current one, wait for the event."""
        if not self._handle:
            return
        stream = current_stream() if stream is None else stream
        before = exchange(stream.device_index)
        try:
            acl = runtime.on(stream.device_index)
            check(acl.rt.stream_wait_event(stream.npu_stream, self._handle), "acl.rt.stream_wait_event", acl)
            tracing.tell("event_wait", self._handle, stream.npu_stream)
        finally:
            exchange(before)

    def query(self) -> bool:
        """Return whether the mark has been passed; True when there is none."""
        if not self._handle:
            return True
        acl = runtime.on(self._index or 0)
        status, code = acl.rt.query_event_status(self._handle)
        runtime.on(current_device())
        check(code, "acl.rt.query_event_status", acl)
        return bool(status == 1)

    def synchronize(self) -> None:
        """Wait until the mark has been passed."""
        if self._handle:
            acl = runtime.on(self._index or 0)
            code = acl.rt.synchronize_event(self._handle)
            runtime.on(current_device())
            check(code, "acl.rt.synchronize_event", acl)
            tracing.tell("event_synchronization", self._handle)

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to `end_event`. Raises ValueError with torch's texts."""
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'")
        if not (self._handle and end_event._handle):
            raise ValueError("Both events must be recorded before calculating elapsed time")
        self.synchronize()
        end_event.synchronize()
        acl = runtime.init()
        milliseconds, code = acl.rt.event_elapsed_time(self._handle, end_event._handle)
        check(code, "acl.rt.event_elapsed_time", acl)
        return float(milliseconds)

    def recorded_time(self) -> int:
        """Return when the mark was passed, in microseconds of the device's clock. RuntimeError where the runtime cannot tell."""
        if not (self._handle and self.enable_timing):
            raise ValueError("The event must be created with argument 'enable_timing=True' and recorded")
        self.synchronize()
        acl = runtime.on(self._index or 0)
        ask = getattr(acl.rt, "event_get_timestamp", None)
        if ask is None:
            raise RuntimeError("Failed to find function aclrtEventGetTimestamp")
        microseconds, code = ask(self._handle)
        check(code, "acl.rt.event_get_timestamp", acl)
        return int(microseconds)

    def ipc_handle(self) -> bytes:
        """Return what another process opens the event with; raises, events between processes are not supported."""
        raise NotImplementedError("torch.npu.Event: events between processes are not supported")

    @classmethod
    def from_ipc_handle(cls, device: int, handle: bytes) -> Event:
        """Return the event of another process; raises, events between processes are not supported."""
        raise NotImplementedError("torch.npu.Event: events between processes are not supported")

    def _destroy(self) -> None:
        handle, self._handle = self._handle, 0
        if handle:
            tracing.tell("event_deletion", handle)
            runtime.init().rt.destroy_event(handle)

    def __del__(self) -> None:
        if self._handle and runtime.is_initialized():
            # When the process is ending, the event goes with it.
            with suppress(AclError, RuntimeError, TypeError):
                self._destroy()

    def __repr__(self) -> str:
        return f"<torch_npu.npu.{type(self).__name__} " + (f"{self._handle:#x}>" if self._handle else "uninitialized>")


def default_stream(device: int | None = None) -> Stream:
    """Return the default stream of a device, which is made when it is first asked for.

    >>> torch.npu.default_stream(1).device
    device(type='npu', index=1)
    """
    index = _device_index(device)
    found = _defaults.get(index)
    if found is None:
        before = exchange(index)
        try:
            acl = runtime.on(index)
            with _lock:
                found = _defaults.get(index)
                if found is None:
                    found = _defaults[index] = Stream(index, npu_stream=stream_pools.created(acl))
        finally:
            exchange(before)
    return found


def current_stream(device: int | None = None) -> Stream:
    """Return the thread's current stream of a device: the default one unless another was set.

    >>> torch.npu.current_stream() == torch.npu.default_stream()
    True
    """
    index = _device_index(device)
    return _thread.current.get(index) or _defaults.get(index) or default_stream(index)


def set_stream(stream: Stream | None) -> None:
    """Make a stream, and with it its device, current in the thread; None changes nothing."""
    if stream is not None:
        exchange(stream.device_index)
        _thread.current[stream.device_index] = stream
        runtime.changed()


class StreamContext:
    """Context manager: a stream is current within the block; None changes nothing.

    >>> stream = torch.npu.Stream()
    >>> with torch.npu.StreamContext(stream):
    ...     print(torch.npu.current_stream() == stream)
    True
    """

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream
        self._before: tuple[int, Stream, Stream] | None = None

    def __enter__(self) -> None:
        if self.stream is None:
            return
        here = current_device()
        self._before = (here, current_stream(here), current_stream(self.stream.device_index))
        set_stream(self.stream)

    def __exit__(self, *error: object) -> None:
        if self.stream is None or self._before is None:
            return
        here, source, target = self._before
        set_stream(target)
        set_stream(source)
        exchange(here)


def stream(stream: Stream | None) -> StreamContext:
    """Return a context manager in which `stream` is current."""
    return StreamContext(stream)
