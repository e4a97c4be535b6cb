"""Powers of matrices, and names that stand for other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.layout import contiguous_format

from ..call import aten
from ..meta.checks import check, wrap_dim
from ..meta.matrices import check_square
from ..typing import Tensor


def matrix_exp(self: Tensor) -> Any:
    """`matrix_exp`."""
    return aten.linalg_matrix_exp(self)


def matrix_power(self: Tensor, n: int) -> Any:
    """`linalg_matrix_power`, by repeated squaring."""
    check_square(self, "linalg.matrix_power")
    if n == 0:
        return aten.copy_(aten.clone(self), aten.eye(self.shape[-2], dtype=self.dtype, device=self.device))
    if n == 1:
        return aten.clone(self, memory_format=contiguous_format)
    if n < 0:
        inverse = aten.linalg_inv(self)
        return inverse if n == -1 else matrix_power(inverse, -n)
    if n == 3:
        return aten.matmul(aten.matmul(self, self), self)
    square = result = None
    while n > 0:
        square = self if square is None else aten.matmul(square, square)
        if n % 2:
            result = square if result is None else aten.matmul(result, square)
        n //= 2
    return result


def trace_backward(grad: Tensor, sizes: Sequence[int]) -> Any:
    """Gradient of `trace`."""
    check(len(sizes) == 2, lambda: "expected matrix input")
    ndim = len(grad.shape)
    check(
        ndim == 0,
        lambda: f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {ndim} dimension(s).",
    )
    diagonal = aten.eye(*sizes, dtype=bool_dtype, device=grad.device)
    return aten.where(diagonal, grad, aten.zeros_like(grad))  # not a product: infinity times zero is nan


def diagonal(A: Tensor, offset: int, dim1: int, dim2: int) -> Any:
    """`linalg_diagonal`."""
    return aten.diagonal(A, offset, dim1, dim2)


def linear_combination(input: Tensor, coefficients: Tensor) -> Any:
    """Sums of the parts of ``input`` along its first dimension, each row of ``coefficients`` the weights of one."""
    check(input.numel() > 0 and bool(input.shape), lambda: "Empty tensor not supported")
    wrap_dim(0, coefficients.ndim, scalar=False)
    parts = coefficients.shape[wrap_dim(1, coefficients.ndim)]
    check(
        parts <= input.shape[0],
        lambda: (
            f"The size of tensor a ({input.shape[0]}) must match the size of tensor b ({parts}) at non-singleton dimension 1"
        ),
    )
    input = input[:parts]
    weights = coefficients.reshape([*coefficients.shape, *[1] * (len(input.shape) - 1)])
    return aten.sum(aten.mul(input.unsqueeze(0), weights), 1).to(input.dtype)


def add_linear_combination(input: Tensor, coefficients: Tensor, out: Tensor) -> Any:
    """Add the combinations to what ``out`` holds, as torch does."""
    return out.add_(linear_combination(input, coefficients))
