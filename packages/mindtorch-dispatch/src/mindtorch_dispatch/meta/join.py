"""Meta rules of joining, repeating and reordering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.promotion import result_type
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import preserved_strides

from ..apart import ANYWHERE, NOTHING_SHARED_AFTER, Apart
from .checks import check, shape_text, wrap_dim
from .memory_format import suggested
from .rule import MetaRule, Outputs, meta_rule


@meta_rule(out=True, apart=NOTHING_SHARED_AFTER)
def cat(tensors: Any, dim: int = 0) -> Outputs:
    """`cat`: dtypes promote, all extents but one agree; empty vectors are skipped."""
    check(len(tensors) > 0, lambda: "torch.cat(): expected a non-empty list of Tensors", ValueError)
    for place, one in enumerate(tensors):
        check(one.ndim > 0, lambda place=place: f"zero-dimensional tensor (at position {place}) cannot be concatenated")
    dtype: Any = result_type([one.dtype for one in tensors])
    kept = [one for one in tensors if not (one.ndim == 1 and one.numel == 0)]
    if not kept:
        return Outputs(Spec.of(dtype, tensors[0].device, (0,)), cast=dtype, values=(tensors, 0))
    first = kept[0]
    dim = wrap_dim(dim, first.ndim)
    total = 0
    for place, one in enumerate(tensors):
        if one.ndim == 1 and one.numel == 0:
            continue
        check(
            one.ndim == first.ndim,
            lambda one=one, place=place: (
                f"Tensors must have same number of dimensions: got {first.ndim} and {one.ndim}"
            ),
        )
        for axis in range(one.ndim):
            check(
                axis == dim or one.shape[axis] == first.shape[axis],
                lambda one=one, axis=axis, place=place: (
                    f"Sizes of tensors must match except in dimension {dim}. Expected "
                    f"size {first.shape[axis]} but got size {one.shape[axis]} for tensor number {place} in the list."
                ),
            )
        total += one.shape[dim]
    shape = (*first.shape[:dim], total, *first.shape[dim + 1 :])
    alike = all(suggested(one, first.shape).stride == suggested(first).stride for one in kept)
    spec = suggested(first, shape, dtype) if alike else Spec.of(dtype, first.device, shape)
    return Outputs(spec, cast=dtype, values=(tensors, dim))


@meta_rule()
def repeat(self: Spec, repeats: Sequence[int]) -> Spec:
    """`repeat`: the tensor tiled."""
    check(
        len(repeats) >= self.ndim,
        lambda: "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
    )
    padded = (1,) * (len(repeats) - self.ndim) + tuple(self.shape)
    shape = [extent * times for extent, times in zip(padded, repeats, strict=True)]
    check(
        all(one >= 0 for one in repeats),
        lambda: f"Trying to create tensor with negative dimension {min(shape)}: {shape_text(shape)}",
    )
    return Spec.of(self.dtype, self.device, shape)


@meta_rule()
def flip(self: Spec, dims: Any) -> Outputs:
    """`flip`."""
    wrapped = [wrap_dim(dim, self.ndim) for dim in dims]
    for dim in wrapped:
        check(wrapped.count(dim) == 1, lambda dim=dim: f"dim {dim} appears multiple times in the list of dims")
    kept = self.with_(stride=tuple(preserved_strides(self.shape, self.stride)))
    return Outputs(kept, values=(self, tuple(wrapped) if self.ndim else ()))


@meta_rule()
def roll(self: Spec, shifts: Any, dims: Any = ()) -> Outputs:
    """`roll`: without dims the flattened tensor rolls."""
    check(len(shifts) > 0, lambda: "`shifts` required")
    check(
        len(shifts) == len(dims) or (not dims and len(shifts) == 1),
        lambda: f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}",
    )
    wrapped = tuple(wrap_dim(dim, self.ndim, scalar=False) for dim in dims)
    made = suggested(self) if dims else self.contiguous()
    return Outputs(made, values=(self, tuple(shifts), wrapped))


def _triangle(name: str) -> MetaRule:
    def rule(self: Spec, diagonal: int = 0) -> Spec:
        check(self.ndim >= 2, lambda: f"{name}: input tensor must have at least 2 dimensions")
        return self.contiguous()

    return MetaRule(rule, inplace=True, out=True, aliases_ok=True, apart=ANYWHERE)


tril = _triangle("tril")
triu = _triangle("triu")


@meta_rule()
def scattered_back(grad: Spec, input_sizes: Sequence[int], *rest: object) -> Spec:
    """Backward of views: a gradient placed into zeros of `input_sizes`."""
    return Spec.of(grad.dtype, grad.device, tuple(input_sizes))


@meta_rule()
def unfold_back(grad: Spec, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Spec:
    """Backward of `unfold`."""
    wrap_dim(dim, len(input_sizes))
    check(size >= 0, lambda: f"size is {size} but must be >= 0")
    check(step > 0, lambda: f"step is {step} but must be > 0", ValueError)
    return Spec.of(grad.dtype, grad.device, tuple(input_sizes))


@meta_rule()
def as_strided_back(grad: Spec, input_sizes: Sequence[int], input_strides: Sequence[int], *rest: object) -> Spec:
    """Backward of `as_strided`."""
    return Spec.of(grad.dtype, grad.device, tuple(input_sizes))


def chunk_cat_apart(tensors: Sequence[Spec], dim: int, num_chunks: int) -> Apart:
    """As `cat`, but operands that are filled up are copies."""
    fits = num_chunks > 0 and all(-one.ndim <= dim < one.ndim for one in tensors)
    whole = fits and all(one.shape[dim] % num_chunks == 0 for one in tensors)
    return NOTHING_SHARED_AFTER if whole else ANYWHERE
