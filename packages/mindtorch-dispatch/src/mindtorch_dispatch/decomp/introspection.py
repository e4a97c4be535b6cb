"""Answers about a tensor that need no kernel."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.device import device as Device

from ..call import aten
from ..meta.checks import wrap_dim
from ..typing import Tensor


def same(self: Tensor) -> Any:
    """`self`."""
    return self


def copied(self: Tensor) -> Any:
    """A copy of `self`."""
    return aten.clone(self)


def pinned(self: Tensor, device: Device | None = None) -> Any:
    """A copy in page-locked memory."""
    return self.pin_memory() if device is None else self.pin_memory(device)


def is_pinned(self: Tensor, device: Device | None = None) -> bool:
    """Whether the tensor lies in page-locked memory."""
    return bool(self.is_pinned() if device is None else self.is_pinned(device))


def local_scalar(self: Tensor) -> Any:
    """The only element as a Python number; NotImplementedError, in torch's words, where there is no data."""
    array = self._readable_array()
    if array is None:
        if self.device.type == "meta":
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    value = array.reshape(()).item()
    return value if isinstance(value, (int, float, complex, bool)) else float(value)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """True when two tensors have one shape."""
    return bool(self._sig.spec.shape == other._sig.spec.shape)


def _storage_numel(tensor: Tensor) -> int:
    storage = tensor._materialized_storage()
    return int(storage.nbytes() // tensor._sig.spec.itemsize)


def has_same_storage_numel(self: Tensor, other: Tensor) -> bool:
    """True when the storages of two tensors hold as many of their elements, or one has no storage of its own."""
    if self._wraps or other._wraps:
        return True
    return _storage_numel(self) == _storage_numel(other)


def new_zeros_with_same_feature_meta(self: Tensor, other: Tensor, self_num_batch_dims: int = 0) -> Any:
    """Zeros as `other`, in a storage as large as its own, once for each place in the first dimensions of `self`."""
    spec, held = other._sig.spec, _storage_numel(other)
    batch = list(self._sig.spec.shape[:self_num_batch_dims])
    steps: list[int] = []
    for extent in reversed(batch):
        steps.insert(0, held)
        held *= extent
    zeros = aten.zeros([held], dtype=spec.dtype, device=spec.device)
    return aten.as_strided(zeros, [*batch, *spec.shape], [*steps, *spec.stride], other._offset)


def size(self: Tensor) -> list[int]:
    """The extents."""
    return list(self._sig.spec.shape)


def stride(self: Tensor) -> list[int]:
    """The strides in elements."""
    return list(self._sig.spec.stride)


def size_of(self: Tensor, dim: int) -> int:
    """One extent."""
    return int(self._sig.spec.shape[wrap_dim(dim, self._sig.spec.ndim)])


def stride_of(self: Tensor, dim: int) -> int:
    """One stride in elements."""
    return int(self._sig.spec.stride[wrap_dim(dim, self._sig.spec.ndim)])


def numel(self: Tensor) -> int:
    """The number of elements."""
    return int(self._sig.spec.numel)


def storage_offset(self: Tensor) -> int:
    """Where the first element lies in the storage."""
    return int(self._offset)


def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return int(self._sig.spec.ndim)


def is_contiguous(self: Tensor) -> bool:
    """True for C order without gaps."""
    return bool(self._sig.spec.is_contiguous)


def device(self: Tensor) -> Any:
    """The device."""
    return self._sig.spec.device


def layout(self: Tensor) -> Any:
    """The layout."""
    return self._sig.spec.layout
