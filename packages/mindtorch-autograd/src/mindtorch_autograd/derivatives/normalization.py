"""Normalization: one kernel for the gradients; differentiable ops where a gradient of the gradient is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Scalar, Tensor

from ..derivative import derivative, joint
from .numbers import conj


def _standard_backward(
    grad: Tensor,
    input: Tensor,
    dims: list[int],
    weight: Tensor | None,
    eps: float,
    train_stats: Sequence[Tensor] | None = None,
) -> Any:
    """Return the input's gradient and the standardized input, by ops that can be differentiated again."""
    if train_stats is None:
        centred = input - aten.mean(input, dims, True)
        rstd = aten.rsqrt(aten.mean(centred * centred, dims, True) + eps)
    else:
        centred, rstd = input - train_stats[0], train_stats[1]
    standard = centred * rstd
    weighted = grad if weight is None else grad * weight
    if train_stats is not None:
        return weighted * rstd, standard
    mean = aten.mean(weighted, dims, True)
    along = aten.mean(weighted * standard, dims, True)
    return rstd * (weighted - mean - standard * along), standard


def _summed(value: object, dims: list[int], shape: Sequence[int]) -> Any:
    return aten.reshape(aten.sum(value, dims) if dims else value, shape)


@joint("input", "weight", "bias")
def layer_norm(
    grad: Tensor,
    needs: Sequence[bool],
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    result1: Tensor,
    result2: Tensor,
) -> Any:
    """`native_layer_norm`."""
    if not state.mode.grad:
        return aten.native_layer_norm_backward(
            grad, input, normalized_shape, result1, result2, weight, bias, list(needs)
        )
    first = len(input.shape) - len(normalized_shape)
    dims = list(range(first, len(input.shape)))
    answer, standard = _standard_backward(grad, input, dims, weight, eps)
    outer = list(range(first))
    shape = list(normalized_shape)
    return answer, needs[1] and _summed(grad * standard, outer, shape), needs[2] and _summed(grad, outer, shape)


@joint("input", "weight", "bias")
def group_norm(
    grads: Sequence[Tensor],
    needs: Sequence[bool],
    input: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
    result1: Tensor,
    result2: Tensor,
) -> Any:
    """`native_group_norm`; the statistics have gradients too."""
    grad = grads[0]
    if grad is None:
        grad = aten.zeros_like(input)
    elif not state.mode.grad and grads[1] is None and grads[2] is None:
        return aten.native_group_norm_backward(grad, input, result1, result2, weight, N, C, HxW, group, list(needs))
    grouped = [N, group, C // group, HxW]
    scale = None if weight is None else aten.reshape(weight, [1, group, C // group, 1])
    grad = aten.reshape(grad, grouped)
    answer, standard = _standard_backward(grad, aten.reshape(input, grouped), [2, 3], scale, eps)
    count = C // group * HxW
    if grads[1] is not None:
        answer = answer + aten.reshape(grads[1], [N, group, 1, 1]) / count
    if grads[2] is not None:
        answer = answer - aten.reshape(grads[2] * result2 * result2, [N, group, 1, 1]) * standard / count
    return (
        aten.reshape(answer, list(input.shape)),
        needs[1] and _summed(grad * standard, [0, 3], [C]),
        needs[2] and _summed(grad, [0, 3], [C]),
    )


@joint("input", "weight", "bias")
def batch_norm(
    grad: Tensor,
    needs: Sequence[bool],
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    eps: float,
    result1: Tensor,
    result2: Tensor,
) -> Any:
    """`native_batch_norm`."""
    if not state.mode.grad:
        return aten.native_batch_norm_backward(
            grad, input, weight, running_mean, running_var, result1, result2, training, eps, list(needs)
        )
    channels = [1, -1, *[1] * (len(input.shape) - 2)]
    dims = [0, *range(2, len(input.shape))]
    scale = None if weight is None else aten.reshape(weight, channels)
    fixed = None
    if not training:
        fixed = (aten.reshape(running_mean, channels), aten.rsqrt(aten.reshape(running_var, channels) + eps))
    answer, standard = _standard_backward(grad, input, dims, scale, eps, fixed)
    return answer, needs[1] and aten.sum(grad * standard, dims), needs[2] and aten.sum(grad, dims)


def renorm(grad: Tensor, self: Tensor, p: Scalar, dim: int, maxnorm: Scalar) -> Any:
    """The gradient where nothing was scaled, the one of the scaled value elsewhere."""
    dims = [axis for axis in range(len(self.shape)) if axis != dim % len(self.shape)]
    norm = aten.linalg_vector_norm(self, p, dims, True)
    along = aten.sum(aten.real(grad * conj(self)), dims, True)
    size = aten.abs(self)
    toward = (
        aten.sgn(self) * aten.pow(size / norm, p - 1) if p != float("inf") else aten.sgn(self) * aten.eq(size, norm)
    )
    inverse = aten.reciprocal(norm + 1e-7)
    scaled = maxnorm * inverse * (grad - inverse * along * toward)
    return aten.where(aten.gt(norm, maxnorm), scaled, grad)


derivative("native_layer_norm", layer_norm, outputs=(0,))
derivative("native_group_norm", group_norm)
derivative("native_batch_norm", batch_norm, outputs=(0,))
derivative("renorm", self=renorm)
