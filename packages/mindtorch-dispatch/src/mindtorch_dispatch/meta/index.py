"""Meta rules of indexing by tensors and masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import (
    broadcast_shapes,
    contiguous_strides,
    elementwise_strides,
    expanded_strides,
    preserved_strides,
    view_strides,
)

from ..apart import NOTHING_SHARED, PARTLY, WHOLLY, Apart
from ..deprecations import warn_of
from .checks import check, shape_text, wrap_dim
from .rule import MetaRule, Outputs, meta_rule

INDEX_DTYPES = ("int64", "int32", "uint8", "bool")


def preserved(self: Spec) -> Spec:
    """Return the spec of a copy: dense strides are kept."""
    return self.with_(stride=tuple(preserved_strides(self.shape, self.stride)))


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
                    lambda offset=offset, place=place, position=position, index=index: (
                        f"The shape of the mask "
                        f"{shape_text(index.shape)} at index {offset} does not match the shape of the indexed tensor "
                        f"{shape_text(self.shape)} at index {place}"
                    ),
                    IndexError,
                )
            dim += index.ndim
        else:
            dim += 1


def check_indices(self: Spec, indices: Any) -> None:
    """Raise torch's errors for wrong index dtypes, too many indices and masks that do not fit."""
    _check_index_dtypes(indices)
    check(
        all(one is None or one.device.type == "cpu" or one.device == self.device for one in indices),
        lambda: f"indices should be either on cpu or on the same device as the indexed tensor ({self.device})",
    )
    check(
        len(indices) <= self.ndim,
        lambda: f"too many indices for tensor of dimension {self.ndim} (got {len(indices)})",
        IndexError,
    )
    _masks_expanded(self, indices)


@meta_rule(out=True)
def index_dynamic(self: Spec, indices: Sequence[Spec | None]) -> Spec:
    """`index` with masks: how many elements are selected is known when the values are."""
    check_indices(self, indices)
    return Spec.of(self.dtype, self.device, (0,))


def indexed_spec(self: Spec, indices: Any) -> Spec:
    """Return the spec of `self[indices]` for integer indices: torch's placement of the index dimensions and strides."""
    given = [index for index in indices if index is not None]
    try:
        common = broadcast_shapes(*[index.shape for index in given])
    except RuntimeError:
        shapes = ", ".join(shape_text(index.shape) for index in given)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None
    places = [place for place, index in enumerate(indices) if index is not None]
    check(
        0 in common or all(self.shape[place] for place in places),
        lambda: "index is out of bounds for dimension with size 0",
        IndexError,
    )
    free = [place for place in range(self.ndim) if place not in places]
    adjacent = places == list(range(places[0], places[-1] + 1))
    lead = places[0] if adjacent else 0
    before, after = free[:lead], free[lead:]
    none = (0,) * len(common)
    shape = (*(self.shape[d] for d in before), *common, *(self.shape[d] for d in after))
    operands = [(shape, (*(self.stride[d] for d in before), *none, *(self.stride[d] for d in after)))]
    for index in given:
        raised = (*(1 for _ in before), *common, *(1 for _ in after))
        wide = expanded_strides(index.shape, index.stride, common)
        operands.append((raised, view_strides(common, wide, raised) or contiguous_strides(raised)))
    return Spec.of(self.dtype, self.device, shape, elementwise_strides(shape, operands))


@meta_rule(out=True, apart=NOTHING_SHARED, mixed_devices=True)
def index(self: Spec, indices: Sequence[Spec | None]) -> Spec:
    """`index` with integer tensors."""
    check_indices(self, indices)
    return indexed_spec(self, indices)


def _check_broadcast(values: Spec, target: Spec) -> None:
    lead = target.ndim - values.ndim
    fits = lead >= 0 and all(have in (1, want) for have, want in zip(values.shape, target.shape[lead:], strict=True))
    check(
        fits,
        lambda: (
            f"shape mismatch: value tensor of shape {shape_text(values.shape)} cannot be broadcast to indexing result "
            f"of shape {shape_text(target.shape)}"
        ),
    )


def _index_put(self: Spec, indices: Sequence[Spec | None], values: Spec, accumulate: bool = False) -> Spec:
    check_indices(self, indices)
    given = [one for one in indices if one is not None]
    masks = [one for one in given if one.dtype.name in ("bool", "uint8")]
    fills = values.numel == 1 and len(masks) == len(given) == 1
    check(
        not fills or masks[0].dtype is bool_dtype,
        lambda: "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char",
    )
    if not masks and given:
        _check_broadcast(values, indexed_spec(self, indices))
    check(
        self.dtype is values.dtype or bool(masks),
        lambda: (
            "Index put requires the source and destination dtypes match, got "
            f"{self.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for the source."
        ),
    )
    return preserved(self)


index_put = MetaRule(_index_put, inplace=True, aliases_ok=True, apart=Apart(WHOLLY, first=True), mixed_devices=True)
"""`index_put`: values broadcast to the indexed shape; where there are masks, the kernel checks it."""


def _same_scalar_type(name: str) -> Any:
    return lambda spec, given: f"{name}(): self and result must have the same scalar type"


@meta_rule(out=True, apart=NOTHING_SHARED, exact=_same_scalar_type("index_select"))
def index_select(self: Spec, dim: int, index: Spec) -> Outputs:
    """`index_select`."""
    dim = wrap_dim(dim, self.ndim)
    check(index.ndim <= 1, lambda: "index_select(): Index is supposed to be a vector", IndexError)
    check(
        self.ndim > 0 or index.numel == 1,
        lambda: f"index_select(): Index to scalar can have only 1 value, got {index.numel} value(s)",
    )
    check(
        index.dtype.name in ("int64", "int32"),
        lambda: "index_select(): Expected dtype int32 or int64 for index",
    )
    shape = list(self.shape)
    if self.ndim:
        shape[dim] = index.numel
    return Outputs(Spec.of(self.dtype, self.device, shape), values=(self, dim, index))


def check_rows(name: str, self: Spec, dim: int, index: Spec, source: Spec) -> None:
    """Raise torch's errors for operands that `index_add` and `index_reduce` refuse."""
    check(
        index.dtype.name in ("int64", "int32"),
        lambda: f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}",
    )
    check(
        self.dtype is source.dtype,
        lambda: (
            f"{name}(): self ({self.dtype.scalar_name}) and source ({source.dtype.scalar_name}) must have the same "
            "scalar type"
        ),
    )
    count = source.shape[dim] if dim < source.ndim else 1
    check(
        source.ndim == 0 or index.numel == count,
        lambda: (
            f"{name}(): Number of indices ({index.numel}) should be equal to source.size(dim): ({count}), for dim: {dim}"
        ),
    )
    rest = [extent for place, extent in enumerate(self.shape) if place != dim]
    given = [extent for place, extent in enumerate(source.shape) if place != dim]
    check(
        self.ndim == source.ndim and rest == given,
        lambda: (
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{shape_text(self.shape)} source.shape = {shape_text(source.shape)}"
        ),
    )


def _check_vector(name: str, index: Spec) -> None:
    check(
        index.ndim <= 1,
        lambda: (
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{index.dtype.scalar_name} and size: {shape_text(index.shape)}"
        ),
        IndexError,
    )


def _index_add(self: Spec, dim: int, index: Spec, source: Spec, alpha: Any = 1) -> Outputs:
    dim = wrap_dim(dim, self.ndim)
    _check_vector("index_add_", index)
    check_rows("index_add_", self, dim, index, source)
    return Outputs(self.contiguous(), values=(self, dim, index, source, alpha))


def _index_reduce(self: Spec, dim: int, index: Spec, source: Spec, reduce: str, include_self: bool = True) -> Outputs:
    check(
        reduce in ("prod", "mean", "amax", "amin"),
        lambda: f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.",
    )
    dim = wrap_dim(dim, self.ndim)
    _check_vector("index_reduce_", index)
    check_rows("index_reduce_", self, dim, index, source)
    warn_of("index_reduce")
    return Outputs(self.contiguous(), values=(self, dim, index, source, reduce, include_self))


def _index_copy(self: Spec, dim: int, index: Spec, source: Spec) -> Outputs:
    dim = wrap_dim(dim, self.ndim)
    check(index.ndim < 2, lambda: f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})", IndexError)
    check(
        source.ndim != 0 or index.numel == 1,
        lambda: f"index_copy_(): When source is scalar, index should have one element (got {index.numel})",
        IndexError,
    )
    check(
        source.ndim == self.ndim or source.ndim == 0 or self.ndim == 0,
        lambda: (
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        ),
        IndexError,
    )
    check(
        index.dtype is int64,
        lambda: f"index_copy_(): Expected a long tensor for index, but got {index.dtype.scalar_name}",
    )
    check(
        self.dtype is source.dtype,
        lambda: (
            f"index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{self.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
        ),
    )
    rest = [extent for place, extent in enumerate(self.shape) if place != dim]
    given = [extent for place, extent in enumerate(source.shape) if place != dim]
    check(
        rest == given,
        lambda: (
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{' '.join(map(str, rest))} at dimension {dim} and source slice shape: {' '.join(map(str, given))} at dimension 0."
        ),
    )
    check(
        source.ndim == 0 or index.numel == source.shape[dim],
        lambda: (
            f"index_copy_(): Number of indices ({index.numel}) should be equal to source.size(dim) ({source.shape[dim]})"
        ),
        IndexError,
    )
    return Outputs(self.contiguous(), values=(self, dim, index, source, 1))


def _index_fill(self: Spec, dim: int, index: Spec, value: Any) -> Outputs:
    if isinstance(value, Spec):
        check(
            value.ndim == 0,
            lambda: (
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            ),
        )
    complex_value = value.dtype.is_complex if isinstance(value, Spec) else isinstance(value, complex)
    check(
        self.dtype.is_complex or not complex_value,
        lambda: "index_fill_(): Converting complex Scalar to non-complex type is not supported",
    )
    check(index.dtype is int64, lambda: "index_fill_(): Expected dtype int64 for index.", IndexError)
    dim = wrap_dim(dim, self.ndim)
    check(index.ndim <= 1, lambda: "Index has to be a vector/scalar")
    return Outputs(preserved(self), values=(self, dim, index, value, 1))


_BUT_SELF = Apart(WHOLLY, {0: PARTLY}, resized=True)
index_add = MetaRule(_index_add, inplace=True, out=True, aliases_ok=True, apart=_BUT_SELF)
index_reduce = MetaRule(_index_reduce, inplace=True, out=True, aliases_ok=True, apart=_BUT_SELF)
index_copy = MetaRule(
    _index_copy, inplace=True, out=True, aliases_ok=True, apart=Apart(WHOLLY, {0: PARTLY}, resized=True, first=True)
)
index_fill = MetaRule(_index_fill, inplace=True, aliases_ok=True, apart=NOTHING_SHARED)


@meta_rule(
    out=True,
    apart=NOTHING_SHARED,
    exact=lambda spec, given: (
        "take(): self and out expected to have the same dtype, but got self.dtype = "
        f"{spec.dtype.scalar_name} and out.dtype = {given.scalar_name}"
    ),
)
def take(self: Spec, index: Spec) -> Spec:
    """`take`: elements of the flattened tensor."""
    check(index.dtype is int64, lambda: f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check(self.numel > 0 or index.numel == 0, lambda: "take(): tried to take from an empty tensor", IndexError)
    return Spec.of(self.dtype, self.device, index.shape)


def _put(self: Spec, index: Spec, source: Spec, accumulate: bool = False) -> Spec:
    check(index.dtype is int64, lambda: f"put_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check(
        self.dtype is source.dtype,
        lambda: (
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}"
        ),
    )
    check(
        source.numel == index.numel,
        lambda: (
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel}, index.numel() = {index.numel}"
        ),
        IndexError,
    )
    check(self.numel > 0 or index.numel == 0, lambda: "put_(): Tried to put elements into an empty tensor", IndexError)
    return preserved(self)


put = MetaRule(_put, inplace=True, aliases_ok=True, apart=NOTHING_SHARED)
"""`put`: elements written at positions of the flattened tensor."""
