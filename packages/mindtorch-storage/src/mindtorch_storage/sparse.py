"""Sparse coordinate tensors: the spec of their geometry, and the object that stands where others have their array.

A sparse tensor is a `TensorBase` whose signature's spec is a `SparseSpec` and whose `_array` is a `CooArray`.
"""

from __future__ import annotations

from typing import Any

from .device import device as Device
from .dtype import dtype as Dtype
from .layout import layout as Layout
from .layout import sparse_coo
from .spec import INTERN_LIMIT, Spec

_interned: dict[tuple[Any, ...], SparseSpec] = {}


class SparseSpec(Spec):
    """Geometry of a sparse coordinate tensor: its last `dense_dim` dimensions belong to each of its values."""

    __slots__ = ("dense_dim", "sparse_dim")

    sparse_dim: int
    dense_dim: int

    @staticmethod
    def coo(dtype: Dtype, device: Device, shape: tuple[int, ...], sparse_dim: int) -> SparseSpec:
        """Return the interned spec of this geometry."""
        key = (dtype, device, shape, sparse_dim)
        spec = _interned.get(key)
        if spec is None:
            if len(_interned) >= INTERN_LIMIT:
                _interned.clear()  # costs later calls a new plan, never a wrong answer
            spec = SparseSpec(dtype, device, shape, (0,) * len(shape))
            spec.is_contiguous = False
            spec.sparse_dim, spec.dense_dim = sparse_dim, len(shape) - sparse_dim
            spec = _interned.setdefault(key, spec)
        return spec

    @property
    def layout(self) -> Layout:
        """`torch.sparse_coo`."""
        return sparse_coo


class CooArray:
    """Where the elements are: `indices` (sparse dimensions x entries), `values` (entries x dense dimensions)."""

    __slots__ = ("coalesced", "indices", "values")

    def __init__(self, indices: Any, values: Any, coalesced: bool) -> None:
        self.indices = indices
        self.values = values
        self.coalesced = coalesced

    @property
    def storage(self) -> Any:
        """There is none: NotImplementedError."""
        raise NotImplementedError("Cannot access storage of SparseTensorImpl")

    def to_host(self) -> Any:
        """There is no array of all elements: RuntimeError."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
