"""Tensors with compressed rows or columns: making them, their parts, and the entries that they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name as layout_name
from mindtorch_storage.layout import sparse_bsc, sparse_bsr, sparse_csr
from mindtorch_storage.sparse import CompressedArray, CompressedSpec
from mindtorch_storage.tensor_base import ViewInfo, make_tensor

from ..call import aten
from ..interface.wiring import wired
from ..meta.checks import check
from ..typing import Tensor
from ..warn_once import is_always, warn_once
from . import coo

ROWS = (sparse_csr, sparse_bsr)
BLOCKS = (sparse_bsr, sparse_bsc)


def is_compressed(tensor: Any) -> bool:
    """True for tensors with one of the four compressed layouts."""
    return type(tensor._sig.spec) is CompressedSpec


def spec_of(tensor: Any) -> CompressedSpec:
    """Return the geometry of a compressed tensor."""
    spec: CompressedSpec = tensor._sig.spec
    return spec


def parts(tensor: Any) -> CompressedArray:
    """Return the indices and values."""
    array: CompressedArray = tensor._array
    return array


_warned: list[Layout] = []


def make(layout: Layout, compressed: Tensor, plain: Tensor, values: Tensor, size: Sequence[int]) -> Any:
    """Return the tensor of `size` with these parts, which are shared and not checked."""
    if not _warned or is_always():
        _warned.append(layout)
        kind = layout_name(layout).removeprefix("Sparse").upper()
        warn_once(
            f"Sparse {kind} tensor support is in beta state. If you miss a functionality in the sparse tensor support, "
            "please submit a feature request to https://github.com/pytorch/pytorch/issues.",
        )
    batch = max(compressed.dim() - 1, 0)
    blocksize = None
    if layout in BLOCKS:
        extents = [*values.shape[batch + 1 : batch + 3], 1, 1]
        blocksize = (extents[0], extents[1])
    dense = max(values.dim() - batch - 1 - (2 if blocksize else 0), 0)
    shape = tuple(int(extent) for extent in size)
    spec = CompressedSpec.of_parts(layout, values.dtype, values.device, shape, batch, dense, blocksize)
    array = CompressedArray(coo.plain(compressed), coo.plain(plain), coo.plain(values))
    return make_tensor(wired.tensor_class, spec.plain, array, None, 0, [0])


def like(tensor: Any, values: Tensor) -> Any:
    """Return a tensor with the indices of `tensor` and other values."""
    given = parts(tensor)
    return make(tensor._sig.spec.layout, given.compressed, given.plain, values, tensor.shape)


def view_of(base: Any, made: Any) -> Any:
    """Return `made`, which shares the values of `base`, as a view of it."""
    root = base if base._view is None else base._view.base
    made._view = ViewInfo(root, root._counter[0], "default")
    return made


def nnz_of(tensor: Any) -> int:
    """Return how many entries each batch has."""
    count: int = parts(tensor).plain.shape[-1]
    return count


class Grid(NamedTuple):
    """Where entries stand: batches, then rows and columns of elements, or of blocks."""

    lead: list[int]
    rows: int
    columns: int
    batches: int

    @staticmethod
    def of(tensor: Any) -> Grid:
        """Return the grid of a compressed tensor."""
        spec = tensor._sig.spec
        high, wide = spec.blocksize or (1, 1)
        batch = spec.batch_dim
        rows, columns = tensor.shape[batch : batch + 2]
        lead = list(tensor.shape[:batch])
        return Grid(lead, rows // high if high else 0, columns // wide if wide else 0, math.prod(lead))


class Entries(NamedTuple):
    """What is stored, one after the other: batch, row and column of each value."""

    batch: Any
    row: Any
    column: Any
    values: Any


def entries(tensor: Any) -> Entries:
    """Return the entries in the order in which they are stored."""
    spec, given, grid = tensor._sig.spec, parts(tensor), Grid.of(tensor)
    lines = grid.rows if spec.layout in ROWS else grid.columns
    count = given.plain.shape[-1]
    device = given.plain.device
    bounds = aten._to_copy(aten.reshape(given.compressed, [grid.batches, lines + 1]), dtype=int64)
    lengths = aten.reshape(aten.sub(bounds[:, 1:], bounds[:, :-1]), [-1])
    every = aten.arange(lines, dtype=int64, device=device)
    major = aten.repeat_interleave(aten.repeat(every, [grid.batches]), lengths)
    minor = aten._to_copy(aten.reshape(given.plain, [-1]), dtype=int64)
    check(major.shape == minor.shape, lambda: "the compressed indices do not fit the number of plain indices")
    batch = aten.repeat_interleave(aten.arange(grid.batches, dtype=int64, device=device), count)
    rest = list(given.values.shape[spec.batch_dim + 1 :])
    values = aten.reshape(given.values, [grid.batches * count, *rest])
    row, column = (major, minor) if spec.layout in ROWS else (minor, major)
    return Entries(batch, row, column, values)


def from_entries(layout: Layout, grid: Grid, given: Entries, size: Sequence[int], index: Dtype = int64) -> Any:
    """Return the tensor of entries in any order, values of equal places added up."""
    by_rows = layout in ROWS
    major, minor = (given.row, given.column) if by_rows else (given.column, given.row)
    lines, width = (grid.rows, grid.columns) if by_rows else (grid.columns, grid.rows)
    flat = aten.add(aten.mul(aten.add(aten.mul(given.batch, lines), major), width), minor)
    places, member = aten._unique2(flat, True, True)[:2]
    count, rest = places.shape[0], list(given.values.shape[1:])
    if count == flat.shape[0]:
        values = aten.index_select(given.values, 0, aten.argsort(flat))
    else:
        zeros = aten.zeros([count, *rest], dtype=given.values.dtype, device=given.values.device)
        values = aten.index_add(zeros, 0, member, given.values)
    line = aten.floor_divide(places, width) if width else places
    return ordered(layout, grid, line, aten.remainder(places, width) if width else places, values, size, index)


def ordered(
    layout: Layout, grid: Grid, line: Tensor, minor: Tensor, values: Tensor, size: Sequence[int], index: Dtype = int64
) -> Any:
    """Return the tensor of ordered entries; `line` numbers the rows or columns of all batches."""
    lines = grid.rows if layout in ROWS else grid.columns
    bounds = aten.arange(grid.batches * lines + 1, dtype=int64, device=line.device)
    ends = aten.searchsorted(line, bounds)
    starts = aten.reshape(ends[:-1], [grid.batches, lines])
    last = aten.reshape(ends[1:], [grid.batches, lines])
    first = starts[:, :1] if lines else aten.zeros([grid.batches, 1], dtype=int64, device=line.device)
    compressed = aten.cat([aten.zeros_like(first), aten.sub(last, first)], 1)
    counts = compressed[:, -1].tolist()
    check(len(set(counts)) < 2, lambda: "Expect the same number of specified elements per batch.")
    count = counts[0] if counts else 0
    return make(
        layout,
        aten.reshape(aten._to_copy(compressed, dtype=index), [*grid.lead, lines + 1]),
        aten.reshape(aten._to_copy(minor, dtype=index), [*grid.lead, count]),
        aten.reshape(values, [*grid.lead, count, *values.shape[1:]]),
        size,
    )


def empty(layout: Layout, size: Sequence[int], dtype: Dtype, device: Any, index: Dtype = int64) -> Any:
    """Return the tensor of this size without entries."""
    *lead, rows, columns = size
    lines = rows if layout in ROWS else columns
    return make(
        layout,
        aten.zeros([*lead, lines + 1], dtype=index, device=device),
        aten.empty([*lead, 0], dtype=index, device=device),
        aten.empty([*lead, 0], dtype=dtype, device=device),
        size,
    )


def to_dense(tensor: Any) -> Any:
    """Return the strided tensor with the same elements."""
    spec, grid, given = tensor._sig.spec, Grid.of(tensor), entries(tensor)
    rest = list(given.values.shape[1:])
    made = aten.zeros(
        [grid.batches, grid.rows, grid.columns, *rest], dtype=given.values.dtype, device=given.values.device
    )
    aten.index_put_(made, [given.batch, given.row, given.column], given.values)
    if spec.blocksize:
        made = aten.transpose(made, 2, 3)
    return aten.reshape(made, list(tensor.shape))


def from_dense(tensor: Tensor, layout: Layout, blocksize: Sequence[int] | None, dense: int) -> Any:
    """Return the compressed tensor of the elements, or of the blocks, that are not all zero."""
    batch = tensor.dim() - 2 - dense
    high, wide = blocksize or (1, 1)
    lead, (rows, columns) = list(tensor.shape[:batch]), tensor.shape[batch : batch + 2]
    grid = Grid(lead, rows // high, columns // wide, math.prod(lead))
    rest = list(tensor.shape[batch + 2 :])
    if blocksize:
        blocks = aten.reshape(tensor, [grid.batches, grid.rows, high, grid.columns, wide, *rest])
        cells = aten.transpose(blocks, 2, 3)
    else:
        cells = aten.reshape(tensor, [grid.batches, grid.rows, grid.columns, *rest])
    kept = aten.ne(cells, 0)
    if kept.dim() > 3:
        kept = aten.any(kept, list(range(3, kept.dim())))
    by_rows = layout in ROWS
    places = aten.nonzero(kept if by_rows else aten.transpose(kept, 1, 2))
    block, major, minor = aten.unbind(places, 1)
    row, column = (major, minor) if by_rows else (minor, major)
    values = aten.index(cells, [block, row, column])
    line = aten.add(aten.mul(block, grid.rows if by_rows else grid.columns), major)
    return ordered(layout, grid, line, minor, values, tensor.shape)


def in_blocks(tensor: Any, layout: Layout, blocksize: Sequence[int]) -> Any:
    """Return the tensor of blocks with the entries of one of elements: every block that has an entry."""
    given, fine = entries(tensor), Grid.of(tensor)
    high, wide = blocksize
    grid = Grid(fine.lead, fine.rows // high, fine.columns // wide, fine.batches)
    row, column = aten.floor_divide(given.row, high), aten.floor_divide(given.column, wide)
    flat = aten.add(aten.mul(aten.add(aten.mul(given.batch, grid.rows), row), grid.columns), column)
    places, member = aten._unique2(flat, True, True)[:2]
    shape = [places.shape[0], high, wide, *given.values.shape[1:]]
    blocks = aten.zeros(shape, dtype=given.values.dtype, device=given.values.device)
    within = [member, aten.remainder(given.row, high), aten.remainder(given.column, wide)]
    aten.index_put_(blocks, within, given.values)
    line, at = aten.floor_divide(places, grid.columns), aten.remainder(places, grid.columns)
    of_blocks = Entries(aten.floor_divide(line, grid.rows), aten.remainder(line, grid.rows), at, blocks)
    index = parts(tensor).plain.dtype
    return from_entries(layout, grid, of_blocks, list(tensor.shape), index)


def to_coo(tensor: Any) -> Any:
    """Return the sparse tensor of coordinates with the same entries."""
    spec, grid, given = tensor._sig.spec, Grid.of(tensor), entries(tensor)
    row, column, values, batch = given.row, given.column, given.values, given.batch
    if spec.blocksize:
        high, wide = spec.blocksize
        rest = list(values.shape[3:])
        count, device = values.shape[0], values.device
        each_row = aten.reshape(aten.arange(high, dtype=int64, device=device), [1, high, 1])
        each_column = aten.reshape(aten.arange(wide, dtype=int64, device=device), [1, 1, wide])
        full = [count, high, wide]
        row = aten.add(aten.reshape(aten.mul(row, high), [-1, 1, 1]), each_row)
        column = aten.add(aten.reshape(aten.mul(column, wide), [-1, 1, 1]), each_column)
        row, column, batch = (
            aten.reshape(aten.expand(one, full), [-1]) for one in (row, column, aten.reshape(batch, [-1, 1, 1]))
        )
        values = aten.reshape(values, [count * high * wide, *rest])
    leading = []
    for extent in reversed(grid.lead):
        leading.append(aten.remainder(batch, extent) if extent else batch)
        batch = aten.floor_divide(batch, extent) if extent else batch
    indices = aten.stack([*leading[::-1], row, column])
    return coo.make(indices, values, tensor.shape, spec.layout is sparse_csr or None)


def from_coo(tensor: Any, layout: Layout) -> Any:
    """Return the compressed tensor of elements with the entries of a sparse matrix of coordinates."""
    made = coo.coalesced(tensor)
    row, column = coo.index_of(made)
    grid = Grid([], tensor.shape[0], tensor.shape[1], 1)
    given = Entries(aten.zeros_like(row), row, column, coo.parts(made).values)
    return from_entries(layout, grid, given, tensor.shape)


def relaid(tensor: Any, layout: Layout) -> Any:
    """Return the tensor with the same entries, rows compressed instead of columns or the other way round."""
    index = parts(tensor).plain.dtype
    return from_entries(layout, Grid.of(tensor), entries(tensor), tensor.shape, index)
