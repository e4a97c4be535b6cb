"""Meta rules of indexing, gathering, scattering, joining and repeating."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.promotion import promote_types, result_type
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from .checks import c_type, check, shape_text, wrap_dim
from .rule import MetaRule, Outputs, meta_rule

INDEX_DTYPES = ("int64", "int32", "uint8", "bool")


def _check_index_dtypes(indices: Any) -> None:
    for index in indices:
        check(
            index is None or index.dtype.name in INDEX_DTYPES,
            lambda: "tensors used as indices must be long, int, byte or bool tensors",
            IndexError,
        )


def _masks_expanded(self: Spec, indices: Any) -> None:
    dim = 0
    for position, index in enumerate(indices):
        if index is None:
            dim += 1
            continue
        if index.dtype.name in ("bool", "uint8"):
            for offset, extent in enumerate(index.shape):
                place = dim + offset
                check(
                    place < self.ndim and self.shape[place] == extent,
                    lambda offset=offset, place=place, position=position, index=index: f"The shape of the mask "
                    f"{shape_text(index.shape)} at index {offset} does not match the shape of the indexed tensor "
                    f"{shape_text(self.shape)} at index {place}",
                    IndexError,
                )
            dim += index.ndim
        else:
            dim += 1


def check_indices(self: Spec, indices: Any) -> None:
    """Raise torch's errors for wrong index dtypes, too many indices and masks that do not fit."""
    _check_index_dtypes(indices)
    check(
        len(indices) <= self.ndim,
        lambda: f"too many indices for tensor of dimension {self.ndim} (got {len(indices)})",
        IndexError,
    )
    _masks_expanded(self, indices)


@meta_rule(out=True)
def index_dynamic(self: Spec, indices: Any) -> Spec:
    """`index` with masks: how many elements are selected is known when the values are."""
    check_indices(self, indices)
    return self


def indexed_shape(self: Spec, indices: Any) -> tuple[int, ...]:
    """Return the shape of `self[indices]` for integer indices, advanced-indexing rules of torch and numpy."""
    given = [index for index in indices if index is not None]
    try:
        common = broadcast_shapes(*[index.shape for index in given])
    except RuntimeError:
        shapes = ", ".join(shape_text(index.shape) for index in given)
        raise IndexError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}") from None
    places = [place for place, index in enumerate(indices) if index is not None]
    rest = list(range(len(indices), self.ndim))
    adjacent = places == list(range(places[0], places[-1] + 1))
    if adjacent:
        before = [self.shape[place] for place in range(places[0])]
        after = [self.shape[place] for place in [*range(places[-1] + 1, len(indices)), *rest]]
        return (*before, *common, *after)
    free = [self.shape[place] for place in range(self.ndim) if place not in places]
    return (*common, *free)


@meta_rule(out=True)
def index(self: Spec, indices: Any) -> Spec:
    """`index` with integer tensors."""
    check_indices(self, indices)
    return Spec.of(self.dtype, self.device, indexed_shape(self, indices))


def _index_put(self: Spec, indices: Any, values: Spec, accumulate: bool = False) -> Spec:
    check_indices(self, indices)
    check(
        self.dtype is values.dtype,
        lambda: "Index put requires the source and destination dtypes match, got "
        f"{self.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for the source.",
    )
    return self


index_put = MetaRule(_index_put, inplace=True, aliases_ok=True)
"""`index_put`: values broadcast to the indexed shape (checked by the kernel, which knows masks)."""


@meta_rule(out=True)
def gather(self: Spec, dim: int, index: Spec, sparse_grad: bool = False) -> Outputs:
    """`gather`."""
    dim = wrap_dim(dim, self.ndim)
    if index.numel == 0:
        return Outputs(Spec.of(self.dtype, self.device, index.shape), values=(self, dim, index))
    check_gather(self, dim, index, "gather")
    return Outputs(Spec.of(self.dtype, self.device, index.shape), values=(self, dim, index))


def check_gather(self: Spec, dim: int, index: Spec, name: str) -> None:
    """Raise torch's errors for an index that does not fit `gather` or `scatter`."""
    check(index.dtype.name in ("int64", "int32"), lambda: f"{name}(): Expected dtype int32/int64 for index")
    check(
        max(self.ndim, 1) == max(index.ndim, 1),
        lambda: "Index tensor must have the same number of dimensions as input tensor"
        if name == "gather"
        else "Index tensor must have the same number of dimensions as self tensor",
    )
    for place in range(index.ndim):
        if place != dim and self.ndim:
            check(
                index.shape[place] <= self.shape[place],
                lambda place=place: f"Size does not match at dimension {place} expected index "
                f"{shape_text(index.shape)} to be no larger than self {shape_text(self.shape)} apart from dimension {dim}",
            )


def _scatter(name: str) -> Any:
    def rule(self: Spec, dim: int, index: Spec, src: Any, reduce: str | None = None, include_self: bool = True) -> Outputs:
        dim = wrap_dim(dim, self.ndim)
        values = (self, dim, index, src, reduce, include_self)
        if index.numel == 0:
            return Outputs(self.contiguous(), values=values)
        check_gather(self, dim, index, "scatter")
        if isinstance(src, Spec):
            check(
                max(src.ndim, 1) == max(index.ndim, 1),
                lambda: "Index tensor must have the same number of dimensions as src tensor",
            )
            for place in range(index.ndim):
                check(
                    index.shape[place] <= (src.shape[place] if src.ndim else 1),
                    lambda: f"Expected index {shape_text(index.shape)} to be no larger than self {shape_text(self.shape)} "
                    f"apart from dimension {dim} and to be no larger size than src {shape_text(src.shape)}",
                )
            check(
                src.dtype is self.dtype,
                lambda: f"{name}(): Expected self.dtype to be equal to src.dtype",
            )
        return Outputs(self.contiguous(), values=values)

    return MetaRule(rule, inplace=True, out=True, aliases_ok=True)


scatter = _scatter("scatter")
scatter_add = _scatter("scatter")


@meta_rule(out=True)
def index_select(self: Spec, dim: int, index: Spec) -> Outputs:
    """`index_select`."""
    dim = wrap_dim(dim, self.ndim)
    check(index.ndim <= 1, lambda: "index_select(): Index is supposed to be a vector", IndexError)
    check(
        index.dtype.name in ("int64", "int32"),
        lambda: "index_select(): Expected dtype int32 or int64 for index",
    )
    shape = list(self.shape)
    if self.ndim:
        shape[dim] = index.numel
    else:
        check(index.numel == 1, lambda: "index_select(): Index to scalar can have only 1 value", IndexError)
    return Outputs(Spec.of(self.dtype, self.device, shape), values=(self, dim, index))


def _index_dim(name: str) -> MetaRule:
    def rule(self: Spec, dim: int, index: Spec, source: Any, alpha: Any = 1) -> Outputs:
        dim = wrap_dim(dim, self.ndim)
        check(index.ndim <= 1, lambda: f"{name}(): Index is supposed to be a vector", IndexError)
        if isinstance(source, Spec) and name != "index_fill_":
            check(
                self.dtype is source.dtype,
                lambda: f"{name}(): self and source expected to have the same dtype, but got (self) "
                f"{self.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
                if name == "index_copy_"
                else "index_add_(): self and source must have the same scalar type",
            )
        return Outputs(self.contiguous(), values=(self, dim, index, source, alpha))

    return MetaRule(rule, inplace=True, out=name != "index_fill_", aliases_ok=True)


index_add = _index_dim("index_add_")
index_copy = _index_dim("index_copy_")
index_fill = _index_dim("index_fill_")


def _masked_fill(self: Spec, mask: Spec, value: Any) -> Outputs:
    check(
        mask.dtype is bool_dtype,
        lambda: f"masked_fill_ only supports boolean masks, but got mask with dtype {c_type(mask.dtype)}",
    )
    if isinstance(value, Spec):
        check(
            value.ndim == 0,
            lambda: "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s).",
        )
        check(
            promote_types(self.dtype, value.dtype) is self.dtype or not (value.dtype.is_floating_point or value.dtype.is_complex),
            lambda: f"value cannot be converted to type {self.dtype.name} without overflow",
        )
    shape = broadcast_shapes(self.shape, mask.shape)
    return Outputs(self.with_(shape=shape) if shape != self.shape else self.contiguous() if not _dense(self) else self)


def _dense(self: Spec) -> bool:
    return self.is_contiguous


masked_fill = MetaRule(_masked_fill, inplace=True, aliases_ok=True)
"""`masked_fill`: a number or 0-d tensor where the mask holds."""


@meta_rule(out=True, exact=lambda spec, given: "masked_select(): self and result must have the same scalar type")
def masked_select(self: Spec, mask: Spec) -> Spec:
    """`masked_select`: as many elements as the mask holds."""
    check(mask.dtype is bool_dtype, lambda: "masked_select: expected BoolTensor for mask")
    broadcast_shapes(self.shape, mask.shape)
    return self


@meta_rule(
    out=True,
    exact=lambda spec, given: f"nonzero: Expected out tensor to have scalar type Long but got scalar type{given.scalar_name}",
)
def nonzero(self: Spec) -> Spec:
    """`nonzero`: one row per non-zero element."""
    return Spec.of(int64, self.device, (0, self.ndim))


@meta_rule(out=True)
def cat(tensors: Any, dim: int = 0) -> Outputs:
    """`cat`: dtypes promote, all extents but one agree; empty vectors are skipped."""
    check(len(tensors) > 0, lambda: "torch.cat(): expected a non-empty list of Tensors", ValueError)
    for place, one in enumerate(tensors):
        check(
            one.ndim > 0, lambda place=place: f"zero-dimensional tensor (at position {place}) cannot be concatenated"
        )
    dtype = result_type([one.dtype for one in tensors])
    kept = [one for one in tensors if not (one.ndim == 1 and one.numel == 0)]
    if not kept:
        wrap_dim(dim, 1)
        return Outputs(Spec.of(dtype, tensors[0].device, (0,)), cast=dtype, values=(tensors, 0))
    first = kept[0]
    dim = wrap_dim(dim, first.ndim)
    total = 0
    for place, one in enumerate(tensors):
        if one.ndim == 1 and one.numel == 0:
            continue
        check(
            one.ndim == first.ndim,
            lambda one=one, place=place: f"Tensors must have same number of dimensions: got {first.ndim} and {one.ndim}",
        )
        for axis in range(one.ndim):
            check(
                axis == dim or one.shape[axis] == first.shape[axis],
                lambda one=one, axis=axis, place=place: f"Sizes of tensors must match except in dimension {dim}. Expected "
                f"size {first.shape[axis]} but got size {one.shape[axis]} for tensor number {place} in the list.",
            )
        total += one.shape[dim]
    shape = (*first.shape[:dim], total, *first.shape[dim + 1 :])
    return Outputs(Spec.of(dtype, first.device, shape), cast=dtype, values=(tensors, dim))


@meta_rule()
def repeat(self: Spec, repeats: Any) -> Spec:
    """`repeat`: the tensor tiled."""
    check(
        len(repeats) >= self.ndim,
        lambda: "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
    )
    check(all(one >= 0 for one in repeats), lambda: f"Trying to create tensor with negative dimension {min(repeats)}: {shape_text([r * s for r, s in zip(repeats, (1,) * (len(repeats) - self.ndim) + tuple(self.shape), strict=True)])}")
    padded = (1,) * (len(repeats) - self.ndim) + tuple(self.shape)
    return Spec.of(self.dtype, self.device, [extent * times for extent, times in zip(padded, repeats, strict=True)])


@meta_rule()
def flip(self: Spec, dims: Any) -> Outputs:
    """`flip`."""
    wrapped = [wrap_dim(dim, self.ndim) for dim in dims]
    for dim in wrapped:
        check(
            wrapped.count(dim) == 1, lambda dim=dim: f"dim {dim} appears multiple times in the list of dims"
        )
    return Outputs(self.contiguous(), values=(self, tuple(wrapped) if self.ndim else ()))


@meta_rule()
def roll(self: Spec, shifts: Any, dims: Any = ()) -> Outputs:
    """`roll`: without dims the flattened tensor rolls."""
    check(len(shifts) > 0, lambda: "`shifts` required")
    check(
        len(shifts) == len(dims) or (not dims and len(shifts) == 1),
        lambda: f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}",
    )
    wrapped = tuple(wrap_dim(dim, self.ndim) for dim in dims)
    return Outputs(self.contiguous(), values=(self, tuple(shifts), wrapped))


def _triangle(name: str) -> MetaRule:
    def rule(self: Spec, diagonal: int = 0) -> Spec:
        check(self.ndim >= 2, lambda: f"{name}: input tensor must have at least 2 dimensions")
        return self.contiguous()

    return MetaRule(rule, inplace=True, out=True, aliases_ok=True)


tril = _triangle("tril")
triu = _triangle("triu")


@meta_rule()
def scattered_back(grad: Spec, input_sizes: Any, *rest: Any) -> Spec:
    """Backward of views: a gradient placed into zeros of `input_sizes`."""
    return Spec.of(grad.dtype, grad.device, tuple(input_sizes))


@meta_rule()
def as_strided_back(grad: Spec, input_sizes: Any, input_strides: Any, *rest: Any) -> Spec:
    """Backward of `as_strided`."""
    return Spec.of(grad.dtype, grad.device, tuple(input_sizes))
