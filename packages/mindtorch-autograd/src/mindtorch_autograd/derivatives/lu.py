"""LU factors, solutions, inverses, determinants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.matrices import is_vector_rhs
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.finfo import finfo
from mindtorch_storage.spec import Spec

from ..derivative import derivative, joint
from .matrices import adjoint, column, diagonal, product
from .numbers import conj


def _sum(first: Tensor | None, second: Tensor | None) -> Any:
    return second if first is None else first if second is None else first + second


def _lower_solve(factor: object, right: object, **how: object) -> Any:
    return aten.linalg_solve_triangular(factor, right, **how)


def _square(grad_lower: Tensor | None, grad_upper: Tensor | None, lower: Tensor, upper: Tensor) -> Any:
    middle = None if grad_lower is None else aten.tril(product(adjoint(lower), grad_lower), -1)
    middle = _sum(middle, None if grad_upper is None else aten.triu(product(grad_upper, adjoint(upper))))
    middle = _lower_solve(adjoint(upper), middle, upper=False, left=False)
    return _lower_solve(adjoint(lower), middle, upper=True, unitriangular=True)


def _wide(grad_lower: Tensor | None, grad_upper: Tensor | None, lower: Tensor, upper: Tensor, rows: int) -> Any:
    rest = upper.shape[-1] - rows
    middle = None if grad_lower is None else product(adjoint(lower), grad_lower)
    if grad_upper is not None:
        middle = _sum(middle, -product(aten.triu(grad_upper), adjoint(upper)))
    middle = _lower_solve(adjoint(aten.narrow(upper, -1, 0, rows)), aten.tril(middle, -1), upper=False, left=False)
    if grad_upper is not None:
        middle = aten.cat(
            [middle + aten.triu(aten.narrow(grad_upper, -1, 0, rows)), aten.narrow(grad_upper, -1, rows, rest)], -1
        )
    result = _lower_solve(adjoint(lower), middle, upper=True, unitriangular=True)
    return result if grad_upper is not None else aten.constant_pad_nd(result, [0, rest])


def _tall(grad_lower: Tensor | None, grad_upper: Tensor | None, lower: Tensor, upper: Tensor, columns: int) -> Any:
    rest = lower.shape[-2] - columns
    middle = None if grad_upper is None else product(grad_upper, adjoint(upper))
    if grad_lower is not None:
        middle = _sum(middle, -product(adjoint(lower), aten.tril(grad_lower, -1)))
    top = aten.narrow(lower, -2, 0, columns)
    middle = _lower_solve(adjoint(top), aten.triu(middle), upper=True, unitriangular=True)
    if grad_lower is not None:
        middle = aten.cat(
            [
                middle + aten.tril(aten.narrow(grad_lower, -2, 0, columns), -1),
                aten.narrow(grad_lower, -2, columns, rest),
            ],
            -2,
        )
    result = _lower_solve(adjoint(upper), middle, upper=False, left=False)
    return result if grad_lower is not None else aten.constant_pad_nd(result, [0, 0, 0, rest])


def factors_backward(
    grad_lower: Tensor | None, grad_upper: Tensor | None, permutation: object, lower: Tensor, upper: Tensor
) -> Any:
    """The gradient of a matrix from those of its factors; either may be missing."""
    if grad_lower is None and grad_upper is None:
        return None
    rows, columns = lower.shape[-2], upper.shape[-1]
    if rows == columns:
        answer = _square(grad_lower, grad_upper, lower, upper)
    elif rows < columns:
        answer = _wide(grad_lower, grad_upper, lower, upper, rows)
    else:
        answer = _tall(grad_lower, grad_upper, lower, upper, columns)
    return product(permutation, answer)


def lu_factor(grad: Tensor, result0: Tensor, result1: Tensor) -> Any:
    """`linalg_lu_factor_ex`."""
    inner = min(result0.shape[-2:])
    permutation, lower, upper = aten.lu_unpack(result0, result1)
    return factors_backward(aten.narrow(grad, -1, 0, inner), aten.narrow(grad, -2, 0, inner), permutation, lower, upper)


def unpack(grads: Any, LU_data_spec: Spec) -> Any:
    """`lu_unpack`: the gradients of both factors in one matrix."""
    rows, columns = LU_data_spec.shape[-2:]
    inner = min(rows, columns)
    lower = None if grads[1] is None else aten.constant_pad_nd(aten.tril(grads[1], -1), [0, columns - inner])
    upper = None if grads[2] is None else aten.constant_pad_nd(aten.triu(grads[2]), [0, 0, 0, rows - inner])
    return _sum(lower, upper)


def solve_factors(grad: Tensor, LU: object, pivots: Tensor, left: bool, adjoint_: bool, result: Tensor) -> Any:
    """Gradient of the factors of `linalg_lu_solve`."""
    permutation, lower, upper = aten.lu_unpack(LU, pivots)
    if left != adjoint_:
        outer = product(grad, adjoint(result)) if left else product(adjoint(grad), result)
        right = _lower_solve(adjoint(upper), -outer, upper=False)
        below = _lower_solve(adjoint(lower), product(right, adjoint(upper)), upper=True, unitriangular=True)
        return aten.tril(below, -1) + aten.triu(right)
    outer = product(result, adjoint(grad)) if left else product(adjoint(result), grad)
    right = -product(aten.transpose(permutation, -2, -1), outer, permutation)
    right = _lower_solve(adjoint(lower), right, upper=True, left=False, unitriangular=True)
    above = _lower_solve(adjoint(upper), product(adjoint(lower), right), upper=False, left=False)
    return aten.tril(right, -1) + aten.triu(above)


@joint("A", "B")
def solve(
    grad: Tensor,
    needs: Sequence[bool],
    A: Tensor,
    B_spec: Spec,
    left: bool,
    result0: Tensor,
    result1: Tensor,
    result2: Tensor,
) -> Any:
    """`_linalg_solve_ex`."""
    vector = is_vector_rhs(A, B_spec)
    given = column(grad) if vector else grad
    if state.mode.grad:
        right = aten.linalg_solve(adjoint(A), given, left=left)
    else:
        right = aten.linalg_lu_solve(result1, result2, given, left=left, adjoint=True)
    matrix = None
    if needs[0]:
        solution = column(result0) if vector else result0
        matrix = -product(right, adjoint(solution)) if left else -product(adjoint(solution), right)
    return matrix, (aten.squeeze(right, -1) if vector else right) if needs[1] else None


def _adjoint_solve(A: Tensor, factors: Tensor, pivots: Tensor, values: Tensor) -> Any:
    """Return the inverse of the adjoint times a multiple of the identity per matrix."""
    right = aten.diag_embed(aten.expand(column(values), list(pivots.shape)))
    if state.mode.grad:
        return aten.linalg_solve(adjoint(A), right)
    return aten.linalg_lu_solve(factors, pivots, right, adjoint=True)


def det(grad: Tensor, A: Tensor, result0: Tensor, result1: Tensor, result2: Tensor) -> Any:
    """`_linalg_det`; a zero on the diagonal of the factors is nudged, because the gradient exists there too."""
    zero = aten.eq(diagonal(result1), 0.0)
    least = finfo(result1.dtype.to_real()).eps
    nudged = result1 + aten.diag_embed(aten.to(zero, result1.dtype) * least)
    size = result0
    if zero._wraps or bool(aten.any(zero).item()):  # a batch cannot be asked
        # Others keep their determinant, of which there is a second derivative.
        size = aten.where(aten.any(zero, -1), aten.prod(diagonal(nudged), -1) * sign_of(result2), result0)
    return _adjoint_solve(A, nudged, result2, grad * conj(size))


def sign_of(pivots: Tensor) -> Any:
    """Return 1 or -1 per matrix: the sign of its row exchanges."""
    at = aten.arange(1, pivots.shape[-1] + 1, dtype=pivots.dtype, device=pivots.device)
    moved = aten.sum(aten.ne(pivots, at), [-1])
    return 1 - 2 * aten.remainder(moved, 2)


def slogdet(grads: Sequence[Tensor | None], A: Tensor, result0: Tensor, result2: Tensor, result3: Tensor) -> Any:
    """`_linalg_slogdet`; the sign of a complex determinant turns with the imaginary part."""
    value = grads[1]
    if grads[0] is not None and A.dtype.is_complex:
        turn = aten.imag(grads[0] * conj(result0))
        value = aten.complex(aten.zeros_like(turn) if value is None else value, turn)
    if value is None:
        return None
    return _adjoint_solve(A, result2, result3, value if value.dtype is A.dtype else aten._to_copy(value, dtype=A.dtype))


derivative("linalg_lu_factor_ex", A=lu_factor, outputs=(0,))
derivative(
    "linalg_lu",
    A=lambda grads, result0, result1, result2: factors_backward(grads[1], grads[2], result0, result1, result2),
    outputs=(1, 2),
)
derivative("lu_unpack", LU_data=unpack, outputs=(1, 2))


def _solve_factors(grad: Tensor, LU: Tensor, pivots: Tensor, left: bool, adjoint: bool, result: Tensor) -> Any:
    return solve_factors(grad, LU, pivots, left, adjoint, result)


derivative(
    "linalg_lu_solve",
    LU=_solve_factors,
    B=lambda grad, LU, pivots, left, adjoint: aten.linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint),
)
derivative("_linalg_solve_ex", solve, outputs=(0,))
derivative("linalg_inv_ex", A=lambda grad, result0: -product(adjoint(result0), grad, adjoint(result0)), outputs=(0,))
derivative("_linalg_det", A=det, outputs=(0,))
derivative("_linalg_slogdet", A=slogdet, outputs=(0, 1))
