"""Joining, repeating and reordering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.checks import wrap_dim
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative
from .view import reach


def cat_grad(grad: Tensor, tensors_spec: Sequence[Spec], dim: int) -> Any:
    """Each tensor's part of the gradient."""
    parts: list[Any] = []
    ndim = grad.dim()
    at = 0
    for spec in tensors_spec:
        if spec.ndim == 1 and spec.numel == 0 and ndim != 1:
            parts.append(aten.zeros([0], dtype=grad.dtype, device=grad.device))
            continue
        length = spec.shape[wrap_dim(dim, ndim)]
        parts.append(aten.narrow(grad, dim, at, length))
        at += length
    return parts


def repeat_grad(grad: Tensor, self_spec: Spec, repeats: Sequence[int]) -> Any:
    """The copies' gradients added up."""
    shape: list[int] = []
    summed: list[int] = []
    padded = (1,) * (len(repeats) - self_spec.ndim) + tuple(self_spec.shape)
    for times, extent in zip(repeats, padded, strict=True):
        if times != 1:
            summed.append(len(shape))
            shape.append(times)
        shape.append(extent)
    if 0 in repeats:
        return aten.zeros(list(self_spec.shape), dtype=grad.dtype, device=grad.device)
    grad = aten.reshape(grad, shape)
    grad = aten.sum(grad, summed) if summed else grad
    return aten.reshape(grad, list(padded))


derivative("cat", tensors=cat_grad)
derivative("repeat", self=repeat_grad)
derivative("flip", self=lambda grad, dims: aten.flip(grad, dims))
derivative("roll", self=lambda grad, shifts, dims: aten.roll(grad, [-shift for shift in shifts], dims))
derivative("tril", self=lambda grad, diagonal: aten.tril(grad, diagonal))
derivative("triu", self=lambda grad, diagonal: aten.triu(grad, diagonal))
derivative("stack", tensors=lambda grad, dim: [aten.select(grad, dim, place) for place in range(grad.shape[dim])])
derivative(
    "select_backward",
    grad_output=lambda grad, dim, index: aten.select(grad, dim, index),
    node="SelectBackwardBackward0",
)
derivative(
    "slice_backward",
    grad_output=lambda grad, dim, start, end, step: aten.slice(grad, dim, start, end, step),
    node="SliceBackwardBackward0",
)
derivative(
    "unfold_backward",
    grad_in=lambda grad, dim, size, step: aten.unfold(grad, dim, size, step),
    node="UnfoldBackwardBackward0",
)
derivative(
    "diagonal_backward",
    grad_output=lambda grad, offset, dim1, dim2: aten.diagonal(grad, offset, dim1, dim2),
    node="DiagonalBackwardBackward0",
)


def as_strided_twice(
    grad: Tensor,
    input_sizes: Sequence[int],
    input_strides: Sequence[int],
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
) -> Any:
    """The gradient laid out in memory as the input, elements that share a place averaged, seen through the view.

    The view may start before its input, which is then itself a part of a larger tensor.
    """
    geometries = (input_sizes, input_strides, max(0, -storage_offset)), (size, stride, max(0, storage_offset))
    extent = max(start + reach(sizes, strides) for sizes, strides, start in geometries)
    numbers = aten.arange(extent, device=grad.device)
    here, there = (aten.reshape(aten.as_strided(numbers, *one), [-1]) for one in geometries)
    memory = aten.zeros([extent], dtype=grad.dtype, device=grad.device)
    counts = aten.index_add(memory, 0, here, aten.ones_like(here, dtype=grad.dtype))
    share = aten.reshape(grad, [-1]) / aten.index_select(counts, 0, here)
    return aten.reshape(aten.index_select(aten.index_add(memory, 0, here, share), 0, there), size)


derivative("as_strided_backward", grad=as_strided_twice)
derivative("diag_embed", self=lambda grad, offset, dim1, dim2: aten.diagonal(grad, offset, dim1, dim2))
derivative("rot90", self=lambda grad, k, dims: aten.rot90(grad, -k, dims))


def _empty_like_source(grad: Tensor, src_spec: Spec) -> Any:
    return aten.zeros(list(src_spec.shape), dtype=grad.dtype, device=grad.device)


derivative(
    "select_scatter",
    self=lambda grad, src_spec, dim, index: aten.select_scatter(grad, _empty_like_source(grad, src_spec), dim, index),
    src=lambda grad, dim, index: aten.select(grad, dim, index),
)
derivative(
    "slice_scatter",
    self=lambda grad, src_spec, dim, start, end, step: aten.slice_scatter(
        grad, _empty_like_source(grad, src_spec), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: aten.slice(grad, dim, start, end, step),
)
derivative(
    "diagonal_scatter",
    self=lambda grad, src_spec, offset, dim1, dim2: aten.diagonal_scatter(
        grad, _empty_like_source(grad, src_spec), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: aten.diagonal(grad, offset, dim1, dim2),
)


def as_strided_scatter_self(
    grad: Tensor,
    self_spec: Spec,
    src_spec: Spec,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Any:
    """The gradient, zero where the source was written."""
    kept = aten.new_empty_strided(grad, list(self_spec.shape), list(self_spec.stride))
    kept.copy_(grad)
    return aten.as_strided_scatter(kept, _empty_like_source(grad, src_spec), size, stride, storage_offset)


def as_strided_scatter_src(
    grad: Tensor, self_spec: Spec, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Any:
    """The gradient of the written elements."""
    kept = aten.new_empty_strided(grad, list(self_spec.shape), list(self_spec.stride))
    kept.copy_(grad)
    return aten.as_strided(kept, size, stride, storage_offset)


derivative("as_strided_scatter", self=as_strided_scatter_self, src=as_strided_scatter_src)
