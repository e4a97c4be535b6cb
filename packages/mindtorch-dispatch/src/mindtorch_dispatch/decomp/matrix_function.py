"""Powers of matrices, and names that stand for other ops."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.layout import contiguous_format

from ..call import aten
from ..meta.checks import check
from ..meta.matrices import check_square


def matrix_exp(self: Any) -> Any:
    """`matrix_exp`."""
    return aten.linalg_matrix_exp(self)


def matrix_power(self: Any, n: int) -> Any:
    """`linalg_matrix_power`: by repeated squaring; negative powers are those of the inverse."""
    check_square(self, "linalg.matrix_power")
    if n == 0:
        identity = aten.eye(self.shape[-1], dtype=self.dtype, device=self.device)
        return aten.copy_(aten.clone(self, memory_format=contiguous_format), identity)
    if n == 1:
        return aten.clone(self, memory_format=contiguous_format)
    square, count = (aten.linalg_inv(self), -n) if n < 0 else (self, n)
    if count == 3:
        return aten.matmul(aten.matmul(square, square), square)
    result = None
    while True:
        if count % 2:
            result = square if result is None else aten.matmul(result, square)
        count //= 2
        if not count:
            return result
        square = aten.matmul(square, square)


def diagonal(A: Any, offset: int, dim1: int, dim2: int) -> Any:
    """`linalg_diagonal`: of matrices, unless told otherwise."""
    return aten.diagonal(A, offset, dim1, dim2)


def trace_backward(grad: Any, sizes: Any) -> Any:
    """`trace_backward`: the gradient on the diagonal."""
    check(len(sizes) == 2, lambda: "expected matrix input")
    return aten.diagonal_backward(aten.expand(grad, [min(sizes)]), list(sizes), 0, 0, 1)
