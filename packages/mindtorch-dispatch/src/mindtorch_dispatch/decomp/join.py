"""Joining, repeating and reordering composed of other ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.layout import contiguous_format
from mindtorch_storage.strides import has_internal_overlap, infer_size, memory_span
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check, shape_text, wrap_dim
from ..meta.support import require
from ..typing import Tensor
from .view import unlinked


def stack(tensors: Sequence[Tensor], dim: int) -> Any:
    """Tensors of one shape along a new dimension."""
    check(len(tensors) > 0, lambda: "stack expects a non-empty TensorList")
    spec = tensors[0]._sig.spec
    first = tensors[0].shape
    for place, one in enumerate(tensors):
        if one._sig.spec is not spec and one.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {shape_text(first)} at entry 0 "
                f"and {shape_text(one.shape)} at entry {place}"
            )
    dim = wrap_dim(dim, len(first) + 1)
    if dim == len(first):
        return aten.cat([aten.unsqueeze(one, dim) for one in tensors], dim)
    joined = aten.cat(tensors, dim)
    return aten._unsafe_view(joined, [*first[:dim], len(tensors), *first[dim:]])


def _not_empty(tensors: Sequence[Tensor], name: str) -> None:
    check(len(tensors) > 0, lambda: f"{name} expects a non-empty TensorList")


def hstack(tensors: Sequence[Tensor]) -> Any:
    """Side by side."""
    _not_empty(tensors, "hstack")
    raised = [atleast_1d(one) for one in tensors]
    return aten.cat(raised, 0 if len(raised[0].shape) == 1 else 1)


def vstack(tensors: Sequence[Tensor]) -> Any:
    """One under the other."""
    _not_empty(tensors, "vstack")
    return aten.cat([atleast_2d(one) for one in tensors], 0)


row_stack = vstack


def dstack(tensors: Sequence[Tensor]) -> Any:
    """One behind the other."""
    _not_empty(tensors, "dstack")
    return aten.cat([atleast_3d(one) for one in tensors], 2)


def column_stack(tensors: Sequence[Tensor]) -> Any:
    """Vectors as columns."""
    _not_empty(tensors, "column_stack")
    return hstack([aten.reshape(one, [one.numel(), 1]) if len(one.shape) <= 1 else one for one in tensors])


def _split_along(self: Tensor, sections: Sequence[int] | int, dim: int, name: str) -> Any:
    if isinstance(sections, int):
        check(
            sections != 0 and self.shape[dim] % sections == 0,
            lambda: (
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{self.shape[dim]} is not divisible by the split_size {sections}!"
            ),
        )
    return tensor_split(self, sections, dim)


def _check_dimensions(self: Tensor, least: int, name: str) -> None:
    check(
        len(self.shape) >= least,
        lambda: (
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(self.shape)} "
            "dimensions!"
        ),
    )


def hsplit(self: Tensor, sections: Sequence[int] | int) -> Any:
    """Pieces side by side."""
    _check_dimensions(self, 1, "hsplit")
    return _split_along(self, sections, 0 if len(self.shape) == 1 else 1, "hsplit")


def vsplit(self: Tensor, sections: Sequence[int] | int) -> Any:
    """Pieces one under the other."""
    _check_dimensions(self, 2, "vsplit")
    return _split_along(self, sections, 0, "vsplit")


def dsplit(self: Tensor, sections: Sequence[int] | int) -> Any:
    """Pieces one behind the other."""
    _check_dimensions(self, 3, "dsplit")
    return _split_along(self, sections, 2, "dsplit")


def tensor_split_by_tensor(self: Tensor, positions: Tensor, dim: int) -> Any:
    """`tensor_split` by a tensor: a count, or positions to cut at."""
    check(
        positions.dtype is int64,
        lambda: (
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{positions.dtype.scalar_name}"
        ),
    )
    check(
        len(positions.shape) <= 1,
        lambda: (
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {len(positions.shape)} dims"
        ),
    )
    return tensor_split(self, positions.tolist(), dim)


_MOST_TENSORS = 2**60
"""No list of results is as long as this."""
_ROOM = 2**27
"""Tensors that a list may have: longer ones end in the lack of memory, after minutes."""


def tensor_split(self: Tensor, sections: Sequence[int] | int, dim: int) -> Any:
    """Pieces of nearly equal length, or cut at given positions."""
    check(
        len(self.shape) > 0,
        lambda: "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    )
    dim = wrap_dim(dim, len(self.shape))
    extent = self.shape[dim]
    if isinstance(sections, int):
        check(sections > 0, lambda: f"number of sections must be larger than 0, got {sections}")
        check(sections < _MOST_TENSORS, lambda: "cannot create std::vector larger than max_size()")
        check(sections <= _ROOM, lambda: "std::bad_alloc")
        small, extra = divmod(extent, sections)
        cuts, at = [], 0
        for place in range(sections - 1):
            at += small + (1 if place < extra else 0)
            cuts.append(at)
    else:
        cuts = list(sections)
    bounds = [0, *cuts]
    pieces = [aten.slice(self, dim, start, end, 1) for start, end in zip(bounds, cuts, strict=False)]
    return [*pieces, aten.slice(self, dim, bounds[-1], None, 1)]


def _each(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(value: Sequence[Tensor] | Tensor) -> Any:
        return fn(value) if isinstance(value, TensorBase) else [fn(one) for one in value]

    return apply


@_each
def atleast_1d(self: Tensor) -> Any:
    """At least one dimension."""
    return aten.reshape(self, [1]) if not self.shape else self


@_each
def atleast_2d(self: Tensor) -> Any:
    """At least two dimensions."""
    count = len(self.shape)
    return aten.reshape(self, [1, 1]) if count == 0 else aten.unsqueeze(self, 0) if count == 1 else self


@_each
def atleast_3d(self: Tensor) -> Any:
    """At least three dimensions."""
    count = len(self.shape)
    if count == 0:
        return aten.reshape(self, [1, 1, 1])
    if count == 1:
        return aten.unsqueeze(aten.unsqueeze(self, 0), -1)
    return aten.unsqueeze(self, -1) if count == 2 else self


def tile(self: Tensor, dims: Sequence[int]) -> Any:
    """`repeat`, with missing leading repeats as 1."""
    lead = len(self.shape) - len(dims)
    return self.repeat([1] * lead + list(dims))


def repeat_interleave_places(repeats: Tensor, output_size: int | None) -> Tensor:
    """Each place as often as `repeats` says."""
    check(len(repeats.shape) == 1, lambda: "repeat_interleave only accept 1D vector as repeat")
    require(repeats.dtype.name in ("int64", "int32"), repeats, "repeat_interleave_cpu")
    if repeats.shape[0] and not repeats.is_meta:
        check(aten.min(repeats).item() >= 0, lambda: "repeats can not be negative")
    places = aten.arange(repeats.shape[0], dtype=repeats.dtype, device=repeats.device)
    made: Tensor = repeat_interleave(places, repeats, 0, output_size)
    return made


def repeat_interleave(self: Tensor, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    """Each element repeated in place."""
    if dim is None:
        self, dim = aten.reshape(self, [-1]), 0
    if not self.shape:  # a number of repeats makes a dimension first, many need its extent
        number = isinstance(repeats, int)
        wrap_dim(wrap_dim(dim, 0) + 1 if number else dim, 0, scalar=number)
    dim = wrap_dim(dim, len(self.shape))
    extent = self.shape[dim]
    if isinstance(repeats, int):
        check(repeats >= 0, lambda: "Repeats must be non-negative")
        check(
            output_size is None or output_size == repeats * extent,
            lambda: f"repeat_interleave: Invalid output_size, expected {repeats * extent} but got {output_size}",
        )
        widened = aten.expand(aten.unsqueeze(self, dim + 1), [*self.shape[: dim + 1], repeats, *self.shape[dim + 1 :]])
        return aten.flatten(aten.clone(widened, memory_format=contiguous_format), dim, dim + 1)
    check(len(repeats.shape) <= 1, lambda: "repeats must be 0-dim or 1-dim tensor")
    check(
        repeats.dtype.name in ("int64", "int32"),
        lambda: "repeats has to be Long or Int tensor",
    )
    if not repeats.is_meta and repeats.numel():
        check(aten.min(repeats).item() >= 0, lambda: "repeats can not be negative")
    if not repeats.shape or repeats.shape[0] == 1:
        repeats = aten.expand(aten.reshape(repeats, [1]), [extent])
    check(
        repeats.shape[0] == extent,
        lambda: (
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.shape[0]} and "
            f"input.size({dim}) = {extent}"
        ),
    )
    ends = aten.cumsum(repeats, 0)
    total = int(ends[-1].item()) if extent else 0
    wanted = total if output_size is None or not extent else output_size
    check(wanted == total, lambda: "allocated size does not match required size")
    positions = aten.searchsorted(ends, aten.arange(total, dtype=ends.dtype, device=self.device), right=True)
    return aten.index_select(self, dim, positions.to(int64))


def fliplr(self: Tensor) -> Any:
    """Left and right exchanged."""
    check(len(self.shape) >= 2, lambda: "Input must be >= 2-d.")
    return aten.flip(self, [1])


def flipud(self: Tensor) -> Any:
    """Up and down exchanged."""
    check(len(self.shape) >= 1, lambda: "Input must be >= 1-d.")
    return aten.flip(self, [0])


def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Any:
    """Quarter turns in the plane of two dims."""
    check(len(dims) == 2, lambda: f"expected total rotation dims == 2, but got dims = {len(dims)}")
    count = len(self.shape)
    check(count >= 2, lambda: f"expected total dims >= 2, but got total dims = {count}")
    check(
        dims[0] != dims[1] and abs(dims[0] - dims[1]) != count,
        lambda: f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}",
    )
    for place, dim in enumerate(dims):
        check(
            -count <= dim < count,
            lambda dim=dim, place=place: f"Rotation dim{place} out of range, dim{place} = {dim}",
        )
    turns = k % 4
    if turns == 1:
        return unlinked(aten.transpose(aten.flip(self, [dims[1]]), dims[0], dims[1]))
    if turns == 2:
        return aten.flip(self, list(dims))
    if turns == 3:
        return unlinked(aten.transpose(aten.flip(self, [dims[0]]), dims[0], dims[1]))
    return aten.clone(self, memory_format=contiguous_format)


def diag(self: Tensor, diagonal: int) -> Any:
    """A vector on the diagonal of a matrix, or a matrix's diagonal."""
    count = len(self.shape)
    check(count in (1, 2), lambda: f"diag(): Supports 1D or 2D tensors. Got {count}D")
    return aten.diag_embed(self, diagonal) if count == 1 else aten.diagonal_copy(self, diagonal)


def diag_embed(self: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    """The last dimension on the diagonal of two new ones."""
    count = len(self.shape) + 1
    first, second = wrap_dim(dim1, count), wrap_dim(dim2, count)
    check(first != second, lambda: f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    extent = abs(offset) + self.shape[-1]
    shape = list(self.shape[:-1])
    for dim in sorted((first, second)):
        shape.insert(dim, extent)
    made = aten.zeros(shape, dtype=self.dtype, device=self.device)
    aten.diagonal(made, offset, first, second).copy_(self)
    return made


def diagflat(self: Tensor, offset: int) -> Any:
    """The flattened tensor on a diagonal."""
    return aten.diag(aten.reshape(self, [-1]), offset)


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Any:
    """One dimension cut into several."""
    dim = wrap_dim(dim, len(self.shape))
    check(len(sizes) > 0, lambda: "unflatten: sizes must be non-empty")
    try:
        inner = infer_size(sizes, self.shape[dim])
    except RuntimeError:
        if any(size == -1 for size in sizes):
            raise RuntimeError(
                f"unflatten: Provided sizes {shape_text(sizes)} don't multiply up to the size of dim {dim} "
                f"({self.shape[dim]}) in the input tensor"
            ) from None
        raise RuntimeError(
            f"unflatten: Provided sizes {shape_text(sizes)} don't multiply up to the size of dim {dim} ({self.shape[dim]}) "
            "in the input tensor"
        ) from None
    return aten.view(self, [*self.shape[:dim], *inner, *self.shape[dim + 1 :]])


def ravel(self: Tensor) -> Any:
    """One dimension, contiguous."""
    return aten.view(self.contiguous(), [-1])


def _copied_memory(self: Tensor) -> Tensor:
    """Return a copy with the same strides and offset, so that a place in memory means the same; dense where elements meet."""
    shape, strides, offset = self.shape, self.stride(), self.storage_offset()
    made: Tensor
    if has_internal_overlap(shape, strides):
        made = aten.clone(self)
    else:
        memory = aten.clone(aten.as_strided(self, [memory_span(shape, strides, offset)], [1], 0))
        made = aten.as_strided(memory, shape, strides, offset)
    return made


def scatter_of(name: str) -> Callable[..., Any]:
    """Return the function that writes `src` into the view `name` of a copy of `self`."""

    def scatter(self: Tensor, src: Tensor, *arguments: object) -> Any:
        made = _copied_memory(self)
        region = getattr(aten, name)(made, *arguments)
        check(
            region.shape == src.shape,
            lambda: (
                f"expected src to have a size equal to the slice of self. src size = {shape_text(src.shape)}, "
                f"slice size = {shape_text(region.shape)}"
            ),
        )
        region.copy_(src)
        return made

    return scatter


def chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Any:
    """`num_chunks` rows per tensor, filled up with zeros, side by side: the layout of sharded parameters."""
    name = "_chunk_cat expects"
    check(num_chunks >= 1, lambda: f"{name} positive num_chunks")
    check(len(tensors) > 0, lambda: f"{name} a non-empty input tensor list")
    check(
        all(one.dtype is tensors[0].dtype for one in tensors), lambda: f"{name} all input tensors with the same dtype"
    )
    check(all(one.numel() for one in tensors), lambda: f"{name} non-empty tensor")
    if len({one.dim() for one in tensors}) == 1:
        dim = wrap_dim(dim, tensors[0].dim())
    else:
        check(dim >= 0, lambda: f"{name} non-negative dim when input tensors have different ndims")
    check(all(dim < one.dim() for one in tensors), lambda: f"{name} dim < ndim for all input tensors")
    lead = list(tensors[0].shape[:dim])
    check(
        all(list(one.shape[:dim]) == lead for one in tensors),
        lambda: f"{name} same sizes of 0,...,dim-1 dimensions for all tensors",
    )
    rows = []
    for one in tensors:
        missing = -one.shape[dim] % num_chunks
        whole = aten.constant_pad_nd(one, [0, 0] * (one.dim() - dim - 1) + [0, missing]) if missing else one
        rows.append(aten.reshape(whole, [*lead, num_chunks, -1]))
    return aten.cat(rows, dim + 1)
