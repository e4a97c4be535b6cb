"""Operators that only Ascend chips have: one kernel for the gradients; where a gradient of those is wanted, other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.decomp import npu as composed
from mindtorch_dispatch.decomp.npu import npu
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint


def _normed(grad: Tensor, self: Tensor, gamma: Tensor, rstd: Tensor, epsilon: float) -> tuple[Any, Any]:
    if not state.mode.grad:
        to_self, to_gamma = npu.npu_rms_norm_backward(grad, self, gamma, rstd)
    else:
        again = composed.reciprocal_root(self, gamma, epsilon)
        to_self, to_gamma = composed.rms_norm_backward(grad, self, gamma, again)
    return to_self, to_gamma if to_gamma.dtype is gamma.dtype else aten.to(to_gamma, gamma.dtype)


@joint("self", "gamma")
def rms_norm(
    grad: Tensor, needs: Sequence[bool], self: Tensor, gamma: Tensor, epsilon: float, result1: Tensor
) -> tuple[Any, Any]:
    """`npu_rms_norm`."""
    return _normed(grad, self, gamma, result1, epsilon)


@joint("x1", "x2", "gamma")
def add_rms_norm(
    grads: Sequence[Tensor | None],
    needs: Sequence[bool],
    gamma: Tensor,
    epsilon: float,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Any, Any, Any]:
    """`npu_add_rms_norm`: what the norm gives back reaches both summands, with what the sum got beside it."""
    normed, _, beside = grads
    if normed is None:
        return beside, beside, None
    to_sum, to_gamma = _normed(normed, result2, gamma, result1, epsilon)
    to_sum = to_sum if beside is None else aten.add(to_sum, beside)
    return to_sum, to_sum, to_gamma


def swiglu(grad: Tensor, self: Tensor, dim: int) -> Any:
    """`npu_swiglu`."""
    return (composed.swiglu_backward if state.mode.grad else npu.npu_swiglu_backward)(grad, self, dim)


@joint("self", "r1", "r2")
def rotary_mul(
    grad: Tensor, needs: Sequence[bool], self: Tensor, r1: Tensor, r2: Tensor, rotary_mode: str
) -> tuple[Any, Any, Any]:
    """`npu_rotary_mul`."""
    back = composed.rotary_mul_backward if state.mode.grad else npu.npu_rotary_mul_backward
    to_self, to_r1, to_r2 = back(grad, self, r1, r2, rotary_mode)
    return to_self, to_r1, to_r2


def dropout_backward(grad: Tensor, mask: Tensor, p: float) -> Any:
    """`npu_dropout_backward`, which is as the op itself."""
    return npu.npu_dropout_backward(grad, mask, p)


@joint("query", "key", "value")
def attention(
    grad: Tensor,
    needs: Sequence[bool],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    pse: Tensor | None,
    hidden: Tensor | None,
    kept: Tensor | None,
    scale: float,
    keep_prob: float,
    result0: Tensor,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Any, Any, Any]:
    """`_npu_attention`; nothing reaches what is added to the scores."""
    given = (query, key, value, pse, hidden, kept)
    if state.mode.grad:
        out, largest, sums = composed.attention(*given, scale, keep_prob)
        return composed.attention_backward(grad, *given, largest, sums, out, scale, keep_prob)
    first, second, third = npu._npu_attention_backward(grad, *given, result1, result2, result0, scale, keep_prob)
    return first, second, third


def grouped_rows(grad: Tensor, weight: Tensor, group_list: Tensor, group_type: int, group_list_type: int) -> Any:
    """`_npu_grouped_product` for the rows: each group's with its matrix turned."""
    if group_type == 0:
        return npu._npu_grouped_product(grad, aten.transpose(weight, 1, 2), group_list, 0, group_list_type)
    return npu._npu_grouped_product(weight, aten.transpose(grad, 1, 2), group_list, 0, group_list_type)


def grouped_matrices(grad: Tensor, x: Tensor, group_list: Tensor, group_type: int, group_list_type: int) -> Any:
    """`_npu_grouped_product` for the matrices: of each group's rows, or rows again."""
    return npu._npu_grouped_product(x, grad, group_list, 2 - group_type, group_list_type)


derivative("npu::_npu_grouped_product", x=grouped_rows, weight=grouped_matrices)
derivative("npu::_npu_dropout", self=lambda grad, result1, p: npu.npu_dropout_backward(grad, result1, p), outputs=(0,))
derivative("npu::npu_dropout_backward", grad_output=dropout_backward)
derivative("npu::npu_rms_norm", rms_norm, outputs=(0,))
derivative("npu::npu_add_rms_norm", add_rms_norm, outputs=(0, 2))
derivative("npu::npu_swiglu", self=swiglu)
derivative("npu::npu_rotary_mul", rotary_mul)
derivative("npu::_npu_attention", attention, outputs=(0,))
