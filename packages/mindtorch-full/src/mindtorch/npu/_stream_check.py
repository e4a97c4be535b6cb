"""The sanitizer of streams: kernels that race, and tensors whose memory may be used again too early.

A tensor's memory belongs to the stream that it was made in. Where another stream has used it, that must be said by
`Tensor.record_stream`, or the first stream must wait for the other one, before the tensor is gone. That is looked at when
the memory is given back, or when `flush_record_stream_warnings` is called.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mindtorch as torch
from mindtorch.cuda import _sanitizer as csan
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch_npu.stream import current_stream

__all__ = ["MissingRecordStreamError", "NPUArgumentHandler", "NPURecordStreamHandler", "NPUSanitizerDispatchMode"]


@dataclass
class CrossStreamUsage:
    """The last use of a tensor in a stream that it was not made in."""

    usage_stream: int
    seq_num: int
    operator: str
    stack_trace: traceback.StackSummary


@dataclass
class NPUTensorInfo:
    """Where memory was got, which streams were recorded for it, and which others used it."""

    allocation_stream: int | None = None
    allocation_stack_trace: traceback.StackSummary | None = None
    recorded_streams: set[int] = field(default_factory=set)
    cross_stream_usages: dict[int, CrossStreamUsage] = field(default_factory=dict)


class MissingRecordStreamError(csan.SynchronizationError):
    """Memory was used by a stream that its own one does not wait for, and that was not recorded."""

    def __init__(
        self,
        data_ptr: int,
        allocation_stack_trace: traceback.StackSummary | None,
        allocation_stream: int,
        usage_stream: int,
        usage: CrossStreamUsage,
        recorded_streams: set[int],
    ) -> None:
        self.data_ptr = data_ptr
        self.allocation_stack_trace = allocation_stack_trace
        self.allocation_stream = allocation_stream
        self.usage_stream = usage_stream
        self.usage = usage
        self.recorded_streams = recorded_streams

    def __repr__(self) -> str:
        return (
            f"MissingRecordStreamError(data_ptr={self.data_ptr}, alloc_stream={self.allocation_stream}, "
            f"usage_stream={self.usage_stream}, operator='{self.usage.operator}')"
        )

    def __str__(self) -> str:
        recorded, made = self.recorded_streams, self.allocation_stack_trace
        lines = [
            "=" * 28,
            f"NPUSanitizer: missing record_stream of the tensor with data pointer {self.data_ptr}",
            f"It was made in stream {self.allocation_stream} and used in stream {self.usage_stream}: its memory may be",
            "given to another tensor while that stream still uses it. Call tensor.record_stream(stream), or let the",
            "first stream wait for the other one (wait_stream) before the tensor is gone.",
            f"Used by:\n  {self.usage.operator}\nWith stack trace:",
            "".join(self.usage.stack_trace.format()),
            f"Recorded streams: {sorted(recorded)}" if recorded else "No stream was recorded.",
        ]
        if made:
            lines += ["Tensor was allocated with stack trace:", "".join(made.format())]
        return "\n".join(lines)


class NPURecordStreamHandler(csan.EventHandler):
    """Follows the streams, and the memory that they use."""

    def __init__(self) -> None:
        super().__init__()
        self._npu_tensors: dict[int, NPUTensorInfo] = {}
        self.record_stream_errors: list[MissingRecordStreamError] = []

    def _handle_memory_allocation(self, data_ptr: int) -> None:
        super()._handle_memory_allocation(data_ptr)
        trace = self.accesses[data_ptr].allocation_stack_trace
        self._npu_tensors[data_ptr] = NPUTensorInfo(current_stream().npu_stream, trace)

    def _handle_memory_deallocation(self, data_ptr: int) -> None:
        self._tell(self._missing(data_ptr))
        self._npu_tensors.pop(data_ptr, None)
        super()._handle_memory_deallocation(data_ptr)

    def _handle_kernel_launch(
        self,
        stream: int,
        read_only: set[int],
        read_write: set[int],
        outputs: set[int],
        operator: str,
        tensor_aliases: dict[int, list[str]],
        storage_dataptrs_accessed: set[int] | None = None,
    ) -> list[csan.SynchronizationError]:
        errors = super()._handle_kernel_launch(stream, read_only, read_write, outputs, operator, tensor_aliases)
        used = read_only | read_write if storage_dataptrs_accessed is None else storage_dataptrs_accessed
        stack: traceback.StackSummary | None = None
        for address in used:
            info = self._npu_tensors.get(address)
            if info is not None and info.allocation_stream not in (None, stream):
                stack = stack or csan.here()
                info.cross_stream_usages[stream] = CrossStreamUsage(stream, self.seq_num, operator, stack)
        return errors

    def _missing(self, data_ptr: int) -> list[MissingRecordStreamError]:
        """Return which uses of memory nothing waits for."""
        info = self._npu_tensors.get(data_ptr)
        if info is None or info.allocation_stream is None:
            return []
        own, recorded = info.allocation_stream, info.recorded_streams
        return [
            MissingRecordStreamError(data_ptr, info.allocation_stack_trace, own, stream, usage, set(recorded))
            for stream, usage in info.cross_stream_usages.items()
            if stream not in recorded and not self.syncs.is_ordered_after(own, usage.seq_num, stream)
        ]

    def _tell(self, errors: list[MissingRecordStreamError]) -> list[MissingRecordStreamError]:
        for error in errors:
            print(error, file=sys.stderr)
        self.record_stream_errors += errors
        return errors

    def flush_record_stream_warnings(self) -> list[MissingRecordStreamError]:
        """Print and return what is wrong of memory in use, as if it were given back now."""
        return self._tell([error for address in list(self._npu_tensors) for error in self._missing(address)])

    def _handle_record_stream(self, data_ptr: int, stream: int) -> None:
        self._npu_tensors.setdefault(data_ptr, NPUTensorInfo()).recorded_streams.add(stream)

    def _handle_erase_stream(self, data_ptr: int, stream: int) -> None:
        info = self._npu_tensors.get(data_ptr)
        if info is not None:
            info.recorded_streams.discard(stream)


class NPUArgumentHandler(csan.ArgumentHandler):
    """What one call of an operator reads and writes, and the memory in which that lies."""

    def __init__(self) -> None:
        super().__init__()
        self.storage_dataptrs_accessed: set[int] = set()

    def is_followed(self, value: Any) -> bool:
        """Return whether a value is a tensor of the device."""
        return isinstance(value, torch.Tensor) and value.is_npu

    def _handle_argument(
        self, value: Any, is_write: bool, metadata_only: bool, name: str | None = None, is_output: bool = False
    ) -> None:
        if metadata_only or not self.is_followed(value):
            return
        super()._handle_argument(value, is_write, metadata_only, name, is_output)
        memory = value.untyped_storage().data_ptr()
        if memory:
            self.storage_dataptrs_accessed.add(memory)

    def parse_outputs(self, schema: Any, outputs: Any, *, is_factory: bool = False) -> None:
        """Note the results: a factory writes what it makes, its kernel runs on the device."""
        super().parse_outputs(schema, outputs)


class NPUSanitizerDispatchMode(TorchDispatchMode):
    """Tells a handler of every operator, and raises what it finds."""

    def __init__(self, event_handler: NPURecordStreamHandler) -> None:
        super().__init__()
        self.event_handler = event_handler
        self.args_handler: Any = None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = {} if kwargs is None else kwargs
        if func._schema.name == "aten::record_stream":  # the allocator tells of it
            return func(*args, **kwargs)
        is_factory = bool(csan.FACTORY_FUNCTION_REGEX.match(func._schema.name))
        found = self.args_handler = NPUArgumentHandler()
        self.parse_inputs(func._schema, args, kwargs, is_factory=is_factory)
        outputs = func(*args, **kwargs)
        self.parse_outputs(func._schema, outputs, is_factory=is_factory)
        if found.dataptrs_read or found.dataptrs_written:
            self.check_errors(func, current_stream().npu_stream)
        return outputs

    def parse_inputs(self, schema: Any, args: Any, kwargs: Mapping[str, Any], is_factory: bool = False) -> None:
        """Note what the operator of a schema is given."""
        self.args_handler.parse_inputs(schema, args, kwargs, is_factory=is_factory)

    def parse_outputs(self, schema: Any, outputs: Any, is_factory: bool = False) -> None:
        """Note what it returned."""
        self.args_handler.parse_outputs(schema, outputs, is_factory=is_factory)

    def check_errors(self, func: Any, npu_stream: int) -> None:
        """Tell the handler of the call that was noted. CUDASanitizerErrors where it races."""
        found = self.args_handler
        csan.report(
            self.event_handler._handle_kernel_launch(
                npu_stream,
                found.dataptrs_read - found.dataptrs_written,
                found.dataptrs_written,
                found.outputs,
                str(func._schema),
                found.tensor_aliases,
                storage_dataptrs_accessed=found.storage_dataptrs_accessed,
            )
        )
