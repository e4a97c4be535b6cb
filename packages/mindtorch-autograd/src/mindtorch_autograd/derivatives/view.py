"""Views: the gradient goes back through the inverse geometry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.checks import wrap_dim
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import NON_DIFFERENTIABLE, derivative


def _inverse(dims: Sequence[int], count: int) -> list[int]:
    order = [0] * count
    for position, dim in enumerate(dims):
        order[wrap_dim(dim, count)] = position
    return order


def zeros_of(grad: Tensor, spec: Spec) -> Any:
    """Return zeros with the geometry of `spec`, of the gradient's dtype and type: one that is spread has spread zeros."""
    return aten.new_zeros(grad, list(spec.shape))


def select_backward(grad: Tensor, self_spec: Spec, dim: int, index: int) -> Any:
    """The gradient at one position of zeros."""
    return aten.select_backward(grad, list(self_spec.shape), dim, index)


def slice_backward(grad: Tensor, self_spec: Spec, dim: int, start: int | None, end: int | None, step: int) -> Any:
    """The gradient in a range of zeros."""
    extent = self_spec.shape[dim]
    return aten.slice_backward(
        grad, list(self_spec.shape), dim, 0 if start is None else start, extent if end is None else end, step
    )


def as_strided_backward(
    grad: Tensor,
    self_spec: Spec,
    self_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None,
) -> Any:
    """The gradient scattered back, added where the view overlapped."""
    start = 0 if storage_offset is None else storage_offset - self_offset
    return aten.as_strided_backward(grad, list(self_spec.shape), list(self_spec.stride), size, stride, start)


def as_strided_tangent(
    tangent: Tensor, self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int
) -> Any:
    """The tangent's elements at the places of the view's; what lies outside of `self` in memory has tangent zero."""
    start = 0 if storage_offset is None else storage_offset - self.storage_offset()
    if start >= 0 and start + reach(size, stride) <= reach(self.shape, self.stride()):
        return aten.as_strided(tangent, size, stride, tangent.storage_offset() + start)
    begin = max(0, -start)
    extent = begin + max(reach(self.shape, self.stride()), start + reach(size, stride))
    memory = aten.zeros([extent], dtype=tangent.dtype, device=tangent.device)
    aten.as_strided(memory, list(self.shape), list(self.stride()), begin).copy_(tangent)
    return aten.as_strided(memory, size, stride, begin + start)


def reach(sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many elements of memory a geometry reaches over."""
    return 0 if 0 in sizes else 1 + sum((extent - 1) * step for extent, step in zip(sizes, strides, strict=True))


def pieces_backward(grads: Sequence[Tensor | None], self_spec: Spec, lengths: Sequence[int], dim: int) -> Any:
    """Pieces' gradients side by side, zeros where a piece has none."""
    given = next(grad for grad in grads if grad is not None)
    shape = list(self_spec.shape)
    dim = wrap_dim(dim, len(shape))
    parts = []
    for grad, length in zip(grads, lengths, strict=True):
        if grad is None:
            grad = aten.zeros([*shape[:dim], length, *shape[dim + 1 :]], dtype=given.dtype, device=given.device)
        parts.append(grad)
    return aten.cat(parts, dim)


def split_backward(grads: Sequence[Tensor | None], self_spec: Spec, split_size: int, dim: int) -> Any:
    """See `pieces_backward`."""
    extent = self_spec.shape[dim]
    lengths = [0] if extent == 0 else [min(split_size, extent - at) for at in range(0, extent, split_size)]
    return pieces_backward(grads, self_spec, lengths, dim)


def split_sizes_backward(grads: Sequence[Tensor | None], self_spec: Spec, split_sizes: Sequence[int], dim: int) -> Any:
    """See `pieces_backward`."""
    return pieces_backward(grads, self_spec, split_sizes, dim)


def unbind_backward(grads: Sequence[Tensor | None], self_spec: Spec, dim: int) -> Any:
    """Positions' gradients stacked, zeros where one has none."""
    given = next(grad for grad in grads if grad is not None)
    return aten.stack([aten.zeros_like(given) if grad is None else grad for grad in grads], dim)


derivative("alias", self=lambda grad: grad)
derivative("detach", NON_DIFFERENTIABLE)
derivative("view", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)))
derivative("_reshape_alias", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)))
derivative("_unsafe_view", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)))
derivative("view.dtype", NON_DIFFERENTIABLE)
derivative("expand", self=lambda grad: grad)
derivative("permute", self=lambda grad, dims: aten.permute(grad, _inverse(dims, len(dims))))
derivative("transpose.int", self=lambda grad, dim0, dim1: aten.transpose(grad, dim0, dim1))
derivative("t", self=lambda grad: aten.t(grad))
derivative("unsqueeze", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)))
derivative("squeeze", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)))
derivative(
    "squeeze.dim", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)), node="SqueezeBackward1"
)
derivative(
    "squeeze.dims", self=lambda grad, self_spec: aten.reshape(grad, list(self_spec.shape)), node="SqueezeBackward2"
)
derivative("select.int", self=select_backward)
derivative("slice.Tensor", self=slice_backward)
derivative("as_strided", self=as_strided_backward, tangent=as_strided_tangent)
derivative("unbind.int", self=unbind_backward)
derivative("split.Tensor", self=split_backward)
derivative("split_with_sizes", self=split_sizes_backward)
derivative(
    "unfold",
    self=lambda grad, self_spec, dimension, size, step: aten.unfold_backward(
        grad, list(self_spec.shape), dimension, size, step
    ),
)
derivative(
    "diagonal",
    self=lambda grad, self_spec, offset, dim1, dim2: aten.diagonal_backward(
        grad, list(self_spec.shape), offset, dim1, dim2
    ),
)
derivative("unsafe_split.Tensor", self=split_backward)
derivative("unsafe_split_with_sizes", self=split_sizes_backward)
