"""`torch.cuda._sanitizer`: finds kernels that use a tensor on two streams which nothing puts in order.

Every stream has a clock: for each stream, the number of the last of its kernels that has run before whatever the stream is
given next. A kernel that reads what another one wrote, or writes what another one used, needs that one in its clock.
`EventHandler` knows no device: those of other devices (`torch.npu`) tell it of their streams in the same way.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils import _pytree as pytree
from mindtorch.utils._python_dispatch import TorchDispatchMode

__all__ = [
    "Access", "AccessType", "ArgumentHandler", "CUDASanitizer", "CUDASanitizerDispatchMode", "CUDASanitizerErrors",
    "EventHandler", "StreamSynchronizations", "SynchronizationError", "TensorInfo", "UnsynchronizedAccessError",
    "cuda_sanitizer", "enable_cuda_sanitizer", "zip_arguments", "zip_by_key",
]  # fmt: skip

DataPtr: TypeAlias = int
StreamId: TypeAlias = int
EventId: TypeAlias = int
SeqNum: TypeAlias = int
DEFAULT_STREAM_ID: StreamId = 0
FACTORY_FUNCTION_REGEX = re.compile("(new_.*|.*_like)")
"""Operators that read of their tensor arguments nothing but shape and type."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class AccessType(enum.Enum):
    """What a kernel does with a tensor."""

    READ = enum.auto()
    WRITE = enum.auto()

    def __str__(self) -> str:
        return "reading from" if self is AccessType.READ else "writing to"


@dataclass
class Access:
    """One use of a tensor: by which kernel, in which stream, as which arguments, from where in the program."""

    type: AccessType
    seq_num: SeqNum
    stream: StreamId
    operator: str
    aliases: list[str]
    is_output: bool
    stack_trace: traceback.StackSummary

    def described(self) -> str:
        """Return the operator, what it does with the tensor, and where it was called."""
        roles = []
        if self.aliases:
            roles.append(" argument(s) " + ", ".join(self.aliases))
        if self.is_output:
            roles.append(" the output")
        return f"{self.operator}\n{self.type}{', and to'.join(roles)}\nWith stack trace:\n{''.join(self.stack_trace.format())}\n"


def here() -> traceback.StackSummary:
    """Return the calls that lead to the caller, outermost first."""
    found = traceback.StackSummary.extract(traceback.walk_stack(inspect.currentframe()), lookup_lines=False)
    found.reverse()
    return found


class SynchronizationError(Exception):
    """What a sanitizer finds."""


class UnsynchronizedAccessError(SynchronizationError):
    """Two uses of a tensor that nothing puts in order."""

    def __init__(
        self,
        data_ptr: DataPtr,
        allocation_stack_trace: traceback.StackSummary | None,
        current_access: Access,
        previous_access: Access,
    ) -> None:
        self.data_ptr = data_ptr
        self.allocation_stack_trace = allocation_stack_trace
        self.current_access = current_access
        self.previous_access = previous_access

    def __str__(self) -> str:
        now, before, made = self.current_access, self.previous_access, self.allocation_stack_trace
        found = f"Tensor was allocated with stack trace:\n{''.join(made.format())}" if made else ""
        origin = found or "Trace for tensor allocation not found."
        return (
            f"{'=' * 28}\nCSAN detected a possible data race on tensor with data pointer {self.data_ptr}\n"
            f"Access by stream {now.stream} during kernel:\n{now.described()}"
            f"Previous access by stream {before.stream} during kernel:\n{before.described()}{origin}"
        )


class CUDASanitizerErrors(Exception):
    """What was found of one kernel."""

    def __init__(self, errors: list[SynchronizationError]) -> None:
        self.errors = errors

    def __str__(self) -> str:
        return f"detected {len(self.errors)} errors"


@dataclass
class TensorInfo:
    """A tensor's last write, and its reads since then."""

    allocation_stack_trace: traceback.StackSummary | None
    reads: list[Access] = field(default_factory=list)
    write: Access | None = None


Clock = dict[StreamId, SeqNum]


def _advance(clock: Clock, other: Clock) -> None:
    """Let a clock know what another one knows."""
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, -1), number)


class StreamSynchronizations:
    """The clocks of streams, of events as they were recorded, and of the host. What is not known begins with its first use."""

    def __init__(self) -> None:
        self.current_sync_states: dict[StreamId, Clock] = {}
        self.recorded_sync_states: dict[EventId, Clock] = {}
        self.host_sync_state: Clock = {}
        self.create_stream(DEFAULT_STREAM_ID)

    def create_stream(self, stream: StreamId) -> None:
        """Begin a stream: it comes after what the host has waited for."""
        if stream not in self.current_sync_states:
            self.host_sync_state[stream] = 0
            self.current_sync_states[stream] = dict(self.host_sync_state)

    def _clock(self, stream: StreamId) -> Clock:
        self.create_stream(stream)
        return self.current_sync_states[stream]

    def create_event(self, event: EventId) -> None:
        """Begin an event, which nothing comes before."""
        self.recorded_sync_states[event] = {}

    def delete_event(self, event: EventId) -> None:
        """Forget an event."""
        self.recorded_sync_states.pop(event, None)

    def update_seq_num(self, stream: StreamId, seq_num: SeqNum) -> None:
        """Note the number of a kernel that a stream is given."""
        self._clock(stream)[stream] = seq_num

    def record_state(self, event: EventId, stream: StreamId) -> None:
        """Let an event be the present end of a stream."""
        self.recorded_sync_states[event] = dict(self._clock(stream))

    def stream_wait_for_event(self, stream: StreamId, event: EventId) -> None:
        """Let a stream go on after an event."""
        _advance(self._clock(stream), self.recorded_sync_states.get(event, {}))

    def all_streams_wait_for_event(self, event: EventId) -> None:
        """Let the host, and so all that it enqueues from now on, come after an event."""
        self._host_waits(self.recorded_sync_states.get(event, {}))

    def all_streams_wait_for_stream(self, stream: StreamId) -> None:
        """The same of a stream's present end."""
        self._host_waits(dict(self._clock(stream)))

    def _host_waits(self, reached: Clock) -> None:
        for clock in (*self.current_sync_states.values(), self.host_sync_state):
            _advance(clock, reached)

    def sync_all_streams(self) -> None:
        """The same of the ends of all streams."""
        self._host_waits({stream: clock[stream] for stream, clock in self.current_sync_states.items()})

    def is_ordered_after(self, current_stream: StreamId, seq_num: SeqNum, other_stream: StreamId) -> bool:
        """Return whether a stream goes on after the kernel of a number in another one."""
        self.create_stream(other_stream)
        return seq_num <= self._clock(current_stream).get(other_stream, -1)


class EventHandler:
    """Follows what streams are given, and finds the kernels that race."""

    def __init__(self) -> None:
        self.accesses: dict[DataPtr, TensorInfo] = {}
        self.syncs = StreamSynchronizations()
        self.seq_num: SeqNum = 0

    def _handle_kernel_launch(
        self,
        stream: StreamId,
        read_only: set[DataPtr],
        read_write: set[DataPtr],
        outputs: set[DataPtr],
        operator: str,
        tensor_aliases: dict[int, list[str]],
    ) -> list[SynchronizationError]:
        self.seq_num += 1
        self.syncs.update_seq_num(stream, self.seq_num)
        stack, found = here(), list[SynchronizationError]()
        for kind, addresses in ((AccessType.READ, read_only), (AccessType.WRITE, read_write)):
            for address in addresses:
                named = tensor_aliases[address]
                now = Access(kind, self.seq_num, stream, operator, named, address in outputs, stack)
                found += self._use(address, now)
        return found

    def _use(self, address: DataPtr, now: Access) -> list[SynchronizationError]:
        """Note a use of a tensor, and return with which earlier ones it races."""
        info = self.accesses.setdefault(address, TensorInfo(None))
        last = [] if info.write is None else [info.write]
        # A write that comes after all reads comes after the write before those, too.
        earlier = info.reads or last if now.type is AccessType.WRITE else last
        found: list[SynchronizationError] = [
            UnsynchronizedAccessError(address, info.allocation_stack_trace, now, before)
            for before in earlier
            if not self.syncs.is_ordered_after(now.stream, before.seq_num, before.stream)
        ]
        if now.type is AccessType.WRITE:
            info.write, info.reads = now, []
        else:
            info.reads.append(now)
        return found

    def _handle_event_creation(self, event: EventId) -> None:
        self.syncs.create_event(event)

    def _handle_event_deletion(self, event: EventId) -> None:
        self.syncs.delete_event(event)

    def _handle_event_record(self, event: EventId, stream: StreamId) -> None:
        self.syncs.record_state(event, stream)

    def _handle_event_wait(self, event: EventId, stream: StreamId) -> None:
        self.syncs.stream_wait_for_event(stream, event)

    def _handle_memory_allocation(self, data_ptr: DataPtr) -> None:
        self.accesses[data_ptr] = TensorInfo(here())

    def _handle_memory_deallocation(self, data_ptr: DataPtr) -> None:
        self.accesses.pop(data_ptr, None)

    def _handle_stream_creation(self, stream: StreamId) -> None:
        self.syncs.create_stream(stream)

    def _handle_device_synchronization(self) -> None:
        self.syncs.sync_all_streams()

    def _handle_stream_synchronization(self, stream: StreamId) -> None:
        self.syncs.all_streams_wait_for_stream(stream)

    def _handle_event_synchronization(self, event: EventId) -> None:
        self.syncs.all_streams_wait_for_event(event)


def zip_by_key(a: Mapping[Key, Any], b: Mapping[Key, Value]) -> Iterator[tuple[Key, Any, Value]]:
    """Give what both mappings have, in the first one's order."""
    return ((key, value, b[key]) for key, value in a.items() if key in b)


def zip_arguments(schema: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Give the schema's argument of every value that a call was given."""
    yield from zip(schema.arguments, args, strict=False)
    rest = {argument.name: argument for argument in schema.arguments[len(args) :]}
    for _, argument, value in zip_by_key(rest, kwargs):
        yield argument, value


class ArgumentHandler:
    """What one call of an operator reads and writes."""

    def __init__(self) -> None:
        self.dataptrs_read: set[DataPtr] = set()
        self.dataptrs_written: set[DataPtr] = set()
        self.tensor_aliases: dict[DataPtr, list[str]] = {}
        self.outputs: set[DataPtr] = set()

    def is_followed(self, value: Any) -> bool:
        """Return whether a value is a tensor of the device."""
        return isinstance(value, torch.Tensor) and value.is_cuda

    def _handle_argument(
        self, value: Any, is_write: bool, metadata_only: bool, name: str | None = None, is_output: bool = False
    ) -> None:
        if not self.is_followed(value):
            return
        address = value.data_ptr() or id(value)  # empty tensors are not one tensor
        if is_write:
            self.dataptrs_written.add(address)
        elif not metadata_only:
            self.dataptrs_read.add(address)
        self.tensor_aliases.setdefault(address, []).extend([] if name is None else [name])
        if is_output:
            self.outputs.add(address)

    def parse_inputs(
        self, schema: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, is_factory: bool = False
    ) -> None:
        """Note the arguments: a view of one, and a factory's pattern, are not read."""
        for argument, value in zip_arguments(schema, args, kwargs):
            alias = argument.alias_info
            writes = alias is not None and alias.is_write
            nothing_read = is_factory or (alias is not None and not writes)
            for leaf in pytree.tree_leaves(value):
                self._handle_argument(leaf, writes, nothing_read, argument.name)

    def parse_outputs(self, schema: Any, outputs: Any, *, is_factory: bool = False) -> None:
        """Note the results: views, and what a factory made, are not written."""
        for result, value in zip(schema.returns, (outputs,), strict=False):
            alias = result.alias_info
            nothing_written = is_factory or (alias is not None and not alias.is_write)
            for leaf in pytree.tree_leaves(value):
                self._handle_argument(leaf, not nothing_written, nothing_written, is_output=True)


class CUDASanitizerDispatchMode(TorchDispatchMode):
    """Tells an `EventHandler` of every operator, and raises what it finds."""

    arguments: Callable[[], ArgumentHandler] = ArgumentHandler

    def __init__(self) -> None:
        super().__init__()
        self.event_handler = EventHandler()

    def current_stream(self) -> StreamId:
        """Return the number of the stream that operators are enqueued to."""
        return int(torch.cuda.current_stream().cuda_stream)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {} if kwargs is None else kwargs
        if func._schema.name == "aten::record_stream":  # the allocator tells of it
            return func(*args, **kwargs)
        is_factory = bool(FACTORY_FUNCTION_REGEX.match(func._schema.name))
        found = self.arguments()
        found.parse_inputs(func._schema, args, kwargs, is_factory=is_factory)
        outputs = func(*args, **kwargs)
        found.parse_outputs(func._schema, outputs, is_factory=is_factory)
        report(
            self.event_handler._handle_kernel_launch(
                self.current_stream(),
                found.dataptrs_read - found.dataptrs_written,
                found.dataptrs_written,
                found.outputs,
                func._schema,
                found.tensor_aliases,
            )
        )
        return outputs


def report(errors: list[SynchronizationError]) -> None:
    """Print what was found of a kernel, and raise it; nothing happens of nothing."""
    if errors:
        for error in errors:
            print(error, file=sys.stderr)
        raise CUDASanitizerErrors(errors)


class CUDASanitizer:
    """Switches the mode on for the rest of the process."""

    def __init__(self) -> None:
        self.dispatch = CUDASanitizerDispatchMode()
        self.enabled = False

    def enable(self) -> None:
        """Follow every operator from now on."""
        self.dispatch.__enter__()
        self.enabled = True


def enable_cuda_sanitizer() -> None:
    """Follow every operator from now on. Without CUDA the first one raises what asking for its stream raises."""
    cuda_sanitizer.enable()


cuda_sanitizer = CUDASanitizer()

adopt(globals())
