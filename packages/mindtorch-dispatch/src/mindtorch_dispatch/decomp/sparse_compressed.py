"""Tensors with compressed rows or columns: making them, their indices, and the ways into their layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32, int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import sparse_coo, sparse_csc, sparse_csr, strided
from mindtorch_storage.sparse import COMPRESSED_LAYOUTS

from ..call import aten
from ..meta.checks import check
from ..sparse import compressed
from ..sparse.compressed import BLOCKS, ROWS, is_compressed, layout_name
from ..sparse.conversions import check_block_layout, check_block_multiples, check_conversion, layout_suffix
from ..sparse.invariants import check_arguments, check_indices
from ..typing import Tensor
from .sparse import with_dtype_on


def from_parts(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Any:
    """The tensor with these parts, which are not checked."""
    if layout not in COMPRESSED_LAYOUTS:
        raise RuntimeError(
            f"sparse_compressed_tensor expected sparse compressed tensor layout but got {layout_name(layout)}"
        )
    _check_numel(size)
    wanted = device or values.device
    bounds = with_dtype_on(compressed_indices, compressed_indices.dtype, wanted)
    plain = with_dtype_on(plain_indices, plain_indices.dtype, wanted)
    return compressed.make(layout, bounds, plain, with_dtype_on(values, dtype or values.dtype, wanted), size)


def with_dims(
    nnz: int,
    dense_dim: int,
    size: Sequence[int],
    blocksize: Sequence[int],
    index_dtype: Dtype,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
) -> Any:
    """The tensor of so many entries per batch, whose indices and values are not set but for those of rows."""
    name = "sparse_compressed_tensor_with_dims"
    check(layout is not None, lambda: f"{name}: expected sparse compressed tensor layout but got none")
    assert layout is not None
    check(
        layout in COMPRESSED_LAYOUTS,
        lambda: f"{name} expected sparse compressed tensor layout but got {layout_name(layout)}",
    )
    check_block_layout(name, layout, blocksize)
    check(nnz >= 0, lambda: f"{name}: nnz must be non-negative, got {nnz}")
    check(
        len(size) >= dense_dim + 2,
        lambda: (
            f"{name}: dimensionality must be at least dense_dim(={dense_dim}) + sparse_dim(=2), but got {len(size)}"
        ),
    )
    if dense_dim < 0:
        raise ValueError(
            f"SmallVector unable to grow. Requested capacity ({2**64 + dense_dim}) is larger than maximum value for size "
            "type (4294967295)"
        )
    batch = len(size) - dense_dim - 2
    check_block_multiples(name, batch, size, blocksize)
    check(
        index_dtype in (int32, int64),
        lambda: f"indices dtype must be Int or Long, but got {index_dtype.scalar_name}",
    )
    lead, dense = list(size[:batch]), list(size[batch + 2 :])
    at = 0 if layout in ROWS else 1
    lines = size[batch + at] // (blocksize[at] if blocksize else 1)
    bounds = aten.zeros([*lead, lines + 1], dtype=index_dtype, device=device)
    plain = aten.empty([*lead, nnz], dtype=index_dtype, device=device)
    values = aten.empty([*lead, nnz, *blocksize, *dense], dtype=dtype, device=device)
    return compressed.make(layout, bounds, plain, values, size)


def _check_numel(size: Sequence[int]) -> None:
    check(all(extent >= 0 for extent in size), lambda: "numel: integer multiplication overflow")


def inferred_size(layout: Layout, bounds: Tensor, plain: Tensor, values: Tensor) -> list[int]:
    """Return the size that the indices and values demand."""
    batch = max(bounds.dim() - 1, 0)
    high, wide = (values.shape[batch + 1 : batch + 3]) if layout in BLOCKS else (1, 1)
    lines = bounds.shape[-1] - 1
    width = int(aten.add(aten.max(plain), 1)) if plain.numel() else 0
    rows, columns = (lines, width) if layout in ROWS else (width, lines)
    rest = values.shape[batch + 1 + (2 if layout in BLOCKS else 0) :]
    return [*bounds.shape[:batch], rows * high, columns * wide, *rest]


def index_of_rows(name: str, by_rows: bool, bounds: bool) -> Callable[[Tensor], Any]:
    """Return the function of `crow_indices` and its like."""
    kind = "row" if by_rows else "column"

    def computed(self: Tensor) -> Any:
        layout = self._sig.spec.layout
        check(
            is_compressed(self) and (layout in ROWS) == by_rows,
            lambda: f"{name} expected sparse {kind} compressed tensor layout but got {layout_name(layout)}",
        )
        given = compressed.parts(self)
        return given.compressed if bounds else given.plain

    return computed


def _dense_to(self: Tensor, layout: Layout, blocksize: Sequence[int] | None, dense_dim: int | None) -> Any:
    dense = dense_dim or 0
    if self.dim() - dense < 2:  # the errors of a shape without rows and columns are those of looking for them
        aten.select(aten.nonzero(self if layout in ROWS else aten.transpose(self, 0, 1)), 1, 1)
    check(
        0 not in self.shape[: self.dim() - 2 - dense],
        lambda: f"to_{layout_suffix(layout)}: Expected product of batch dimensions to be non-zero.",
    )
    return compressed.from_dense(self, layout, blocksize, dense)


def converted(self: Tensor, layout: Layout, blocksize: Sequence[int] | None, dense_dim: int | None) -> Any:
    """Return the tensor in a compressed layout, from any other one."""
    current = self._sig.spec.layout
    if current is strided:
        return _dense_to(self, layout, blocksize, dense_dim)
    if current is sparse_coo:
        made = compressed.from_coo(self, sparse_csr if layout in BLOCKS else layout)
    elif layout in BLOCKS and current in BLOCKS:
        return compressed.relaid(self, layout)
    elif layout in BLOCKS:
        made = self
    else:
        name = str(layout).removeprefix("torch.")
        check(
            current in (sparse_csr, sparse_csc),
            lambda: (
                f"sparse_compressed_to_{name}: expected SparseCsr or SparseCsc layout but got {layout_name(current)}"
            ),
        )
        return compressed.relaid(self, layout)
    if layout not in BLOCKS or blocksize is None:
        return made
    return compressed.in_blocks(made, layout, blocksize)


def to_elements(layout: Layout) -> Callable[..., Any]:
    """Return the function of `to_sparse_csr` or `to_sparse_csc`."""
    convert = "_to_" + layout_suffix(layout)

    def computed(self: Tensor, dense_dim: int | None = None) -> Any:
        check_conversion(self, layout, None, dense_dim, "_" + layout_suffix(layout).removeprefix("sparse_"))
        return self if self._sig.spec.layout is layout else getattr(aten, convert)(self, dense_dim)

    return computed


def to_blocks(layout: Layout) -> Callable[..., Any]:
    """Return the function of `to_sparse_bsr` or `to_sparse_bsc`."""
    convert = "_to_" + layout_suffix(layout)

    def computed(self: Tensor, blocksize: Sequence[int], dense_dim: int | None = None) -> Any:
        check_conversion(self, layout, blocksize, dense_dim, "_" + layout_suffix(layout).removeprefix("sparse_"))
        return self if self._sig.spec.layout is layout else getattr(aten, convert)(self, list(blocksize), dense_dim)

    return computed


def elements_of(layout: Layout) -> Callable[..., Any]:
    """Return the function of `_to_sparse_csr` or `_to_sparse_csc`."""
    return lambda self, dense_dim=None: converted(self, layout, None, dense_dim)


def blocks_of(layout: Layout) -> Callable[..., Any]:
    """Return the function of `_to_sparse_bsr` or `_to_sparse_bsc`."""
    return lambda self, blocksize, dense_dim=None: converted(self, layout, blocksize, dense_dim)


def validate(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    layout: Layout,
    check_pinning: bool | None = None,
) -> None:
    """Raise torch's error where the parts do not make a tensor of this layout."""
    check(
        layout in COMPRESSED_LAYOUTS,
        lambda: (
            "validate_sparse_compressed_tensor_args expected sparse compressed tensor layout but got "
            f"{layout_name(layout)}"
        ),
    )
    check_arguments(compressed_indices, plain_indices, values, list(size), layout)


def validate_of(layout: Layout) -> Callable[..., None]:
    """Return the function of `_validate_sparse_csr_tensor_args` and its like."""

    def computed(
        compressed_indices: Tensor,
        plain_indices: Tensor,
        values: Tensor,
        size: Sequence[int],
        check_pinning: bool | None = None,
    ) -> None:
        check_arguments(compressed_indices, plain_indices, values, list(size), layout)

    return computed


def validate_indices(is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int, nnz: int) -> None:
    """Raise torch's error where the indices do not make `cdim` rows of `dim` columns."""
    check_indices(is_crow, compressed_idx, plain_idx, cdim, dim, nnz)


def csr_to_coo(crow_indices: Tensor, col_indices: Tensor, out_int32: bool = False, transpose: bool = False) -> Any:
    """The coordinates of compressed indices."""
    lengths = aten.sub(crow_indices[..., 1:], crow_indices[..., :-1])
    rows = aten.repeat_interleave(
        aten.arange(lengths.shape[-1], dtype=int64, device=lengths.device), aten._to_copy(lengths, dtype=int64)
    )
    columns = aten._to_copy(col_indices, dtype=int64)
    made = aten.stack([columns, rows] if transpose else [rows, columns])
    return aten._to_copy(made, dtype=int32) if out_int32 else made


def coo_to_csr(self: Tensor, size: int, out_int32: bool = False) -> Any:
    """The bounds of each row in ordered row indices."""
    bounds = aten.arange(size + 1, dtype=self.dtype, device=self.device)
    return aten.searchsorted(self, bounds, out_int32=out_int32)
