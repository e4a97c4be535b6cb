"""Triangular systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint
from .matrices import adjoint, product
from .numbers import conj


def _kept(matrix: Tensor, upper: bool, unit: bool) -> Any:
    return aten.triu(matrix, int(unit)) if upper else aten.tril(matrix, -int(unit))


@joint("self", "B")
def solve_triangular(
    grad: Tensor, needs: Sequence[bool], self: Tensor, upper: bool, left: bool, unitriangular: bool, result: Tensor
) -> Any:
    """Both gradients from one solution of the adjoint system."""
    right = aten.linalg_solve_triangular(adjoint(self), grad, upper=not upper, left=left, unitriangular=unitriangular)
    if not needs[0]:
        return None, right
    matrix = -product(right, adjoint(result)) if left else -product(adjoint(result), right)
    return _kept(matrix, upper, unitriangular), right


@joint("self", "A")
def triangular_solve(
    grads: Sequence[Tensor],
    needs: Sequence[bool],
    A: Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
    result0: Tensor,
) -> Any:
    """The copy of the coefficients hands its gradient on."""
    right = matrix = None
    if grads[0] is not None:
        right = conj(aten.triangular_solve(conj(grads[0]), A, upper, not transpose, unitriangular)[0])
        if needs[1]:
            if transpose:
                matrix = -product(conj(result0), aten.transpose(right, -2, -1))
            else:
                matrix = -product(right, adjoint(result0))
            matrix = _kept(matrix, upper, unitriangular)
    if grads[1] is not None:
        matrix = grads[1] if matrix is None else matrix + grads[1]
    return right, matrix


derivative("linalg_solve_triangular", solve_triangular)
derivative("triangular_solve", triangular_solve)
