"""Copies of tensors in page-locked memory, from which a device copies while the program goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.extend.devices import stream_records
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.state import mode_set
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.storage import UntypedStorage, memory
from mindtorch_storage.storage.conversion import check_pinning_device
from mindtorch_storage.strides import memory_span

from .pickling import tensor_over

_accelerator = LazyModule("mindtorch.accelerator", "it stands on this module")
_backends = LazyModule("mindtorch._backends", "it stands on this module")


def pinned_copy(tensor: Any) -> Any:
    """Return a copy with the same sizes and strides in pinned memory.

    Raises RuntimeError with torch's texts for a tensor of a device, and where there is no accelerator to pin for.
    """
    if not _available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    _check_dense(tensor)
    return _copy_to(tensor, memory.pinned_memory[0])


def marked_copy(tensor: Any) -> Any:
    """Return a copy with the same sizes and strides that counts as pinned: in pinned memory where a device is, else in
    ordinary memory with the mark. The tensor itself when it is pinned; RuntimeError for a tensor that is not on the CPU.
    """
    if _available():
        return tensor.pin_memory()
    _check_dense(tensor)
    return tensor if tensor.is_pinned() else _copy_to(tensor, memory.MarkedAllocation)


def _check_dense(tensor: Any) -> None:
    if tensor._sig.spec.device.type != "cpu":
        raise RuntimeError(f"cannot pin '{tensor.type()}' only dense CPU tensors can be pinned")


def _copy_to(tensor: Any, make: Callable[[int], Any]) -> Any:
    spec = tensor._sig.spec
    nbytes = memory_span(spec.shape, spec.stride) * spec.itemsize
    storage = UntypedStorage._from_allocation(make(nbytes))
    made = tensor_over(storage, spec.dtype, 0, spec.shape, spec.stride)
    with mode_set(grad=False):
        aten.copy_(made, tensor)
    return made


def _available() -> bool:
    """Import the accelerator's backend, which brings its pinned memory, where there is one."""
    if not memory.pinned_memory and _accelerator.is_available():
        _backends.load_backend("npu")
    return memory.can_pin()


wired.can_pin, wired.pinned_copy = _available, pinned_copy


def pin_memory(self: Any, device: Any = None) -> Any:
    """Return a copy in page-locked memory, which needs an accelerator; the tensor itself when it is there."""
    if device is not None:
        _available()
        check_pinning_device(device)
    if self._sig.spec.device.type == "cpu" and self._materialized_storage().is_pinned():
        return self
    return pinned_copy(self)


def record_stream(self: Any, s: Any) -> None:
    """Keep the memory from being used again until what is enqueued to a stream by the release has been done."""
    kind = self._sig.spec.device.type
    record = stream_records.get(kind)
    if record is None:
        raise NotImplementedError(
            f"Could not run 'aten::record_stream' with arguments from the '{kind.upper()}' backend."
        )
    record(self._materialized_storage(), s)
