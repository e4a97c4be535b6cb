"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def taken(grad: Tensor, indices: Tensor, dims: int) -> Any:
    """Return the values of `grad` at positions in planes of `dims` dimensions."""
    flat = aten.flatten(indices, len(indices.shape) - dims)
    values = aten.gather(aten.flatten(grad, len(grad.shape) - dims), -1, flat)
    return aten.reshape(values, list(indices.shape))


def no_gradient(grad: Tensor, self_spec: Spec) -> Any:
    """Return zeros: the input only lends a pooling's gradient its shape."""
    return aten.zeros(list(self_spec.shape), dtype=grad.dtype, device=grad.device)


def _max_backward(dims: int) -> Any:
    def formula(
        grad: Tensor,
        self: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        result1: Tensor,
    ) -> Any:
        backward = getattr(aten, f"max_pool{dims}d_with_indices_backward")
        return backward(grad, self, kernel_size, stride, padding, dilation, ceil_mode, result1)

    return formula


def _avg_backward(dims: int) -> Any:
    def formula(
        grad: Tensor,
        self: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Any:
        backward = getattr(aten, f"avg_pool{dims}d_backward")
        return backward(grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return formula


def _avg_twice(dims: int) -> Any:
    def formula(
        grad: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Any:
        forward = getattr(aten, f"avg_pool{dims}d")
        return forward(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)

    return formula


def _max_twice(dims: int) -> Any:
    return lambda grad, indices: taken(grad, indices, dims)


for _dims in (2, 3):
    derivative(f"max_pool{_dims}d_with_indices", self=_max_backward(_dims), outputs=(0,))
    derivative(f"max_pool{_dims}d_with_indices_backward", grad_output=_max_twice(_dims), self=no_gradient)
    derivative(f"avg_pool{_dims}d", self=_avg_backward(_dims))
    derivative(f"avg_pool{_dims}d_backward", grad_output=_avg_twice(_dims), self=no_gradient)
