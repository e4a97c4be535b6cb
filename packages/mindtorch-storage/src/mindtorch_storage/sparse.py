"""Sparse tensors: the specs of their geometry, and the objects that stand where others have their array.

A tensor of coordinates is a `TensorBase` whose signature's spec is a `SparseSpec` and whose `_array` is a `CooArray`; one
with compressed rows or columns has a `CompressedSpec` and a `CompressedArray`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .device import device as Device
from .dtype import dtype as Dtype
from .layout import layout as Layout
from .layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr
from .spec import INTERN_LIMIT, Spec

COMPRESSED_LAYOUTS = (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)
"""Rows or columns compressed, of elements or of blocks."""

NO_DENSE_BYTES = (
    "nbytes is not defined for sparse tensors.  If you want the size of the constituent tensors, add the nbytes of the indices "
    "and values.  If you want the size of the  equivalent dense tensor, multiply numel() by element_size()"
)
"""torch's text for the bytes of a tensor of coordinates."""

_interned: dict[tuple[Any, ...], Any] = {}


def _kept(key: tuple[Any, ...], spec: Any) -> Any:
    if len(_interned) >= INTERN_LIMIT:
        _interned.clear()  # costs later calls a new plan, never a wrong answer
    return _interned.setdefault(key, spec)


class _Parts:
    """What stands where other tensors have their array: the parts of a sparse one."""

    __slots__ = ()

    _implementation: ClassVar[str]

    @property
    def storage(self) -> Any:
        """There is none: NotImplementedError."""
        raise NotImplementedError(f"Cannot access storage of {self._implementation}")

    def to_host(self) -> Any:
        """There is no array of all elements: RuntimeError."""
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


class SparseSpec(Spec):
    """Geometry of a sparse coordinate tensor: its last `dense_dim` dimensions belong to each of its values."""

    __slots__ = ("dense_dim", "sparse_dim")

    sparse_dim: int
    dense_dim: int

    @staticmethod
    def coo(dtype: Dtype, device: Device, shape: tuple[int, ...], sparse_dim: int) -> SparseSpec:
        """Return the interned spec of this geometry."""
        key = (dtype, device, shape, sparse_dim)
        spec: SparseSpec | None = _interned.get(key)
        if spec is None:
            spec = SparseSpec(dtype, device, shape, (0,) * len(shape))
            spec.is_contiguous = False
            spec.sparse_dim, spec.dense_dim = sparse_dim, len(shape) - sparse_dim
            spec = _kept(key, spec)
        return spec

    @property
    def layout(self) -> Layout:
        """`torch.sparse_coo`."""
        return sparse_coo


class CooArray(_Parts):
    """Where the elements are: `indices` (sparse dimensions x entries), `values` (entries x dense dimensions)."""

    __slots__ = ("coalesced", "indices", "values")

    _implementation = "SparseTensorImpl"

    def __init__(self, indices: Any, values: Any, coalesced: bool) -> None:
        self.indices = indices
        self.values = values
        self.coalesced = coalesced


class CompressedSpec(Spec):
    """Geometry of a compressed tensor: batch dimensions, two sparse ones, in blocks or not, and `dense_dim` dense ones."""

    __slots__ = ("batch_dim", "blocksize", "compressed_layout", "dense_dim", "sparse_dim")

    batch_dim: int
    blocksize: tuple[int, int] | None
    compressed_layout: Layout
    dense_dim: int
    sparse_dim: int

    @staticmethod
    def of_parts(
        layout: Layout,
        dtype: Dtype,
        device: Device,
        shape: tuple[int, ...],
        batch_dim: int,
        dense_dim: int,
        blocksize: tuple[int, int] | None,
    ) -> CompressedSpec:
        """Return the interned spec of this geometry."""
        key = (layout, dtype, device, shape, batch_dim, dense_dim, blocksize)
        spec: CompressedSpec | None = _interned.get(key)
        if spec is None:
            spec = CompressedSpec(dtype, device, shape, (0,) * len(shape))
            spec.is_contiguous = False
            spec.compressed_layout, spec.blocksize = layout, blocksize
            spec.batch_dim, spec.sparse_dim, spec.dense_dim = batch_dim, 2, dense_dim
            spec = _kept(key, spec)
        return spec

    @property
    def layout(self) -> Layout:
        """One of the four compressed layouts."""
        return self.compressed_layout


class CompressedArray(_Parts):
    """Where the elements are: `compressed` bounds of rows or columns, `plain` indices within them, and `values`."""

    __slots__ = ("compressed", "plain", "values")

    _implementation = "SparseCsrTensorImpl"

    def __init__(self, compressed: Any, plain: Any, values: Any) -> None:
        self.compressed = compressed
        self.plain = plain
        self.values = values


def without(layout: Layout, what: str) -> RuntimeError:
    """Return torch's error for what tensors of a compressed layout lack."""
    kind = str(layout).removeprefix("torch.sparse_").upper()
    return RuntimeError(f"Sparse {kind} tensors do not have {what}")
