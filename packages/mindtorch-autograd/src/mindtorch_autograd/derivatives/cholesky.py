"""Cholesky factors."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative
from .matrices import adjoint, halved_diagonal, product


def factor(grad: Tensor, upper: bool, result: Tensor) -> Any:
    """The gradient of the matrix from that of its factor, made Hermitian."""
    lower = adjoint(result) if upper else result
    given = adjoint(grad) if upper else grad
    middle = halved_diagonal(aten.tril(product(adjoint(lower), given)))
    answer = aten.linalg_solve_triangular(adjoint(lower), middle, upper=True)
    answer = aten.linalg_solve_triangular(lower, answer, upper=False, left=False)
    return (answer + adjoint(answer)) / 2


def inverse(grad: Tensor, self: Tensor, upper: bool, result: Tensor) -> Any:
    """Gradient of `cholesky_inverse`."""
    common = product(result, grad + adjoint(grad), result)
    return -product(self, common) if upper else -product(common, self)


def solve_factor(grad: Tensor, input2: Tensor, upper: bool, result: Tensor) -> Any:
    """Gradient of the factor of `cholesky_solve`."""
    common = product(aten.cholesky_solve(grad, input2, upper), adjoint(result))
    common = common + adjoint(common)
    return -product(input2, common) if upper else -product(common, input2)


derivative("linalg_cholesky_ex", self=lambda grad, upper, result0: factor(grad, upper, result0), outputs=(0,))
derivative("cholesky", self=factor)
derivative("cholesky_inverse", self=inverse)
derivative(
    "cholesky_solve",
    self=lambda grad, input2, upper: aten.cholesky_solve(grad, input2, upper),
    input2=solve_factor,
)
