"""The simulated host: its devices, contexts, streams and events, and what each thread has current."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Iterable
from typing import Any

from mindtorch_npu.simulator.faults import DeviceFault, FaultPlan, no_device
from mindtorch_npu.simulator.memory import DeviceMemory
from mindtorch_npu.simulator.races import HOST, Races
from mindtorch_npu.simulator.settings import Settings
from mindtorch_npu.simulator.stream import Event, Recording, Stream, TaskGroup

PARAMETER, UNINITIALIZED = 100000, 100001
BAD_VALUE, BAD_DEVICE, NO_CONTEXT, WRONG_CONTEXT = 107000, 107001, 107002, 107003
LOST = 507010
RACE = 507000
GLOBAL, RELAXED = 0, 2
NOT_WHILE_RECORDING = 107030
KERNEL = 507015


class Context:
    """A context of a device, with its default stream."""

    def __init__(self, handle: int, device: int, default_stream: Stream) -> None:
        self.handle = handle
        self.device = device
        self.default_stream = default_stream


class _Thread(threading.local):
    context: Context | None = None
    message: str | None = None
    mode = 0  # of recording


class Machine:
    """Everything the vendor's libraries and the device keep; one per process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.faults = FaultPlan(settings.faults)
        self.races = Races() if settings.races else None
        self.pid = os.getpid()
        self.initialized = 0
        self.finalized = False
        self.lost: set[int] = set()
        self.thread = _Thread()
        self.lock = threading.RLock()
        self.set_counts: dict[int, int] = {}
        self.contexts: dict[int, Context] = {}
        self.streams: dict[int, Stream] = {}
        self.events: dict[int, Event] = {}
        self.pinned: dict[int, tuple[int, Any]] = {}
        self.peers: set[tuple[int, int]] = set()
        self.options: dict[int, int] = {}
        self.cores: dict[tuple[int, int], int] = {}
        self.recordings: dict[int, Recording] = {}
        self.task_groups: dict[int, TaskGroup] = {}
        self.functions: dict[str, Any] = {}
        self._primary: dict[int, Context] = {}
        self._handles = itertools.count(0x7F00_0000_1000, 0x40)
        padding = settings.facts["padding"]
        self.memories = [DeviceMemory(i, settings.memory, padding) for i in range(settings.devices)]
        for device in settings.full:
            self.memories[device].used = settings.memory  # another process has it

    def call(self, name: str) -> None:
        """Check what every call needs: initialised, not forked, no fault wanted."""
        if os.getpid() != self.pid:
            raise DeviceFault(507000, "EZ9999: the runtime of a forked process's parent must not be used")
        if not self.initialized:
            raise DeviceFault(UNINITIALIZED, f"EE1001: {name} before acl.init")
        try:
            self.faults.check(name)
        except DeviceFault as fault:
            context = self.thread.context
            if fault.code == LOST and context is not None:  # it does not come back
                self.lost.add(context.device)
            raise

    def next_handle(self) -> int:
        """Return a handle that nothing has."""
        with self.lock:
            return next(self._handles)

    def context(self) -> Context:
        """Return the thread's context; DeviceFault when it has none or its device is lost."""
        found = self.thread.context
        if found is None or found.handle not in self.contexts:
            raise DeviceFault(NO_CONTEXT, "EE1001: this thread has no context, or it is gone: call set_device first")
        if found.device in self.lost:
            raise DeviceFault(LOST, f"EE1001: device {found.device} has stopped answering")
        return found

    def set_device(self, device: int) -> None:
        """Make a device's default context current, making it when it is the first use."""
        if not 0 <= device < self.settings.devices:
            raise DeviceFault(BAD_DEVICE, no_device(device, self.settings.devices))
        if device in self.settings.hung:
            threading.Event().wait()  # for ever, as the driver does
        with self.lock:
            if device in self.lost or device in self.settings.missing:
                raise DeviceFault(507033, f"EE1001: device {device} cannot be opened")
            primary = self._primary.get(device)
            if primary is None:
                primary = self._primary[device] = self.create_context(device)
            self.set_counts[device] = self.set_counts.get(device, 0) + 1
            self.thread.context = primary

    def reset_device(self, device: int, force: bool) -> None:
        """Undo one `set_device`, all with `force`; with the last the device's streams and errors go."""
        with self.lock:
            count = self.set_counts.get(device, 0)
            if not count:
                raise DeviceFault(BAD_VALUE, f"EE1001: device {device} is not set")
            self.set_counts[device] = 0 if force else count - 1
            if self.set_counts[device]:
                return
            gone = [stream for stream in self.streams.values() if stream.device == device]
            self._primary.pop(device, None)
            self.lost.discard(device)
            for stream in gone:
                self.streams.pop(stream.handle, None)
            for context in [c for c in self.contexts.values() if c.device == device]:
                self.contexts.pop(context.handle, None)
        for stream in gone:
            stream.close(force=True)
        if self.thread.context is not None and self.thread.context.device == device:
            self.thread.context = None

    def is_primary(self, context: Context) -> bool:
        """True for the context that `set_device` made, which only a reset takes away."""
        return self._primary.get(context.device) is context

    def create_context(self, device: int) -> Context:
        """Return a new context of a device."""
        with self.lock:
            handle = next(self._handles)
            stream = Stream(next(self._handles), handle, device, self.settings.delay)
            self.streams[stream.handle] = stream
            context = self.contexts[handle] = Context(handle, device, stream)
        return context

    def create_stream(self) -> Stream:
        """Return a new stream of the current context; DeviceFault past the chip's limit."""
        context = self.context()
        with self.lock:
            if sum(s.device == context.device for s in self.streams.values()) >= self.settings.facts["streams"]:
                raise DeviceFault(207008, "EE1001: the device has no stream left")
            stream = Stream(next(self._handles), context.handle, context.device, self.settings.delay)
            self.streams[stream.handle] = stream
        return stream

    def stream(self, handle: int) -> Stream:
        """Return the stream of a handle, 0 for the context's default; DeviceFault for a foreign or unknown one."""
        context = self.context()
        if handle == 0:
            return context.default_stream
        stream = self.streams.get(handle)
        if stream is None:
            raise DeviceFault(PARAMETER, f"EL0003: {handle:#x} is no stream")
        if stream.context != context.handle:
            raise DeviceFault(WRONG_CONTEXT, "EE1001: the stream belongs to another context")
        return stream

    def create_event(self, flags: int, recordable_anew: bool) -> Event:
        """Return a new event; DeviceFault past the chip's limit."""
        device = self.context().device
        with self.lock:
            if not recordable_anew and len(self.events) >= self.settings.facts["events"]:
                raise DeviceFault(207007, "EE1001: the device has no event left")
            event = Event(next(self._handles), flags, recordable_anew, device)
            self.events[event.handle] = event
        return event

    def event(self, handle: int) -> Event:
        """Return the event of a handle; DeviceFault for an unknown one."""
        event = self.events.get(handle)
        if event is None:
            raise DeviceFault(PARAMETER, f"EL0003: {handle:#x} is no event")
        return event

    def device_streams(self, device: int) -> list[Stream]:
        """Return the streams of a device."""
        with self.lock:
            return [stream for stream in self.streams.values() if stream.device == device]

    def check_stream(self, stream: Stream) -> None:
        """Raise what a task of the stream, or any exception on its device, left behind."""
        for other in (stream, *self.device_streams(stream.device)):
            if other.error is not None and (other is stream or other.error.code >= 507000):
                raise other.error
        if stream.device in self.lost:
            raise DeviceFault(LOST, f"EE1001: device {stream.device} has stopped answering")

    def forget_errors(self, device: int) -> None:
        """Let what failed on a device's streams be forgotten, as a reset does; for tests that go on after a failure."""
        for stream in self.device_streams(device):
            stream.wait()
            stream.error = None

    def ordered(self, stream: Stream | None, name: str, ranges: Iterable[tuple[int, int, bool]]) -> None:
        """Check a task's device bytes, (start, end, written), against what other streams do; None is the host.

        DeviceFault for a race. Nothing is checked unless the settings ask for it.
        """
        if self.races is None:
            return
        own = [one for one in ranges if self.memory_of(one[0]) is not None and one[1] > one[0]]
        raced = self.races.enqueue(HOST if stream is None else stream.number, name, own)
        if raced is not None:
            raise DeviceFault(RACE, f"EZ9999: {raced}")

    def waited(self, stream: Stream) -> None:
        """The host knows that a stream has done all it had to."""
        if self.races is not None:
            self.races.host_waited_for(stream.number)

    def released(self, start: int, end: int, what: str) -> None:
        """Bytes go back; whoever is still to use them fails, as a device does that finds other things there."""
        with self.lock:
            streams = list(self.streams.values())
        for stream in streams:
            user = stream.waiting_for(start, end)
            if user is not None and stream.error is None:
                stream.error = DeviceFault(
                    KERNEL, f"EZ9999: {what} at {start:#x} was released before {user} on stream {stream.number} had run"
                )

    def refuse_while_recording(self, what: str) -> None:
        """Refuse what waits for the device where a recording of the context, or of this thread, does not allow it."""
        if self.thread.mode == RELAXED:
            return
        context, thread = self.context(), threading.get_ident()
        for recording in {stream.recording for stream in self.device_streams(context.device)}:
            if recording is None or recording.mode == RELAXED or recording.origin.context != context.handle:
                continue
            if recording.thread == thread or (recording.mode == GLOBAL and self.thread.mode == GLOBAL):
                raise DeviceFault(NOT_WHILE_RECORDING, f"EE1016: {what} while a stream is recorded")

    def memory_of(self, address: int) -> DeviceMemory | None:
        """Return the device memory an address belongs to, None for host addresses."""
        return next((memory for memory in self.memories if memory.owns(address)), None)

    def host_address(self, address: int, size: int) -> int:
        """Return where the bytes at `address` are in this process; DeviceFault for memory that is not live."""
        memory = self.memory_of(address)
        if memory is None:
            return address
        block, offset = memory.find(address, size)
        return block.host + offset

    def buffer(self, address: int, size: int, device: int | None = None) -> Any:
        """Return a writable buffer over device bytes; DeviceFault for memory that is not live or not a device's.

        With `device` it must be that device's own: its cores reach no other's.
        """
        memory = self.memory_of(address)
        if memory is not None and device is not None and memory is not self.memories[device]:
            owner = self.memories.index(memory)
            raise DeviceFault(KERNEL, f"EZ9999: {address:#x} is memory of device {owner}, the kernel runs on {device}")
        if memory is None:
            raise DeviceFault(KERNEL, f"EZ9999: the kernel was given {address:#x}, which is no device address")
        block, offset = memory.find(address, size)
        return memoryview(block.data)[offset : offset + size]

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy bytes between any two places, as the stream or a synchronous copy does."""
        ctypes.memmove(self.host_address(target, size), self.host_address(source, size), size)
