"""Eigenvalues and singular values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative
from .matrices import adjoint, column, diagonal, product, row, with_diagonal
from .numbers import conj

_PHASE = (
    "The {what} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function depends "
    "on this quantity, so it is ill-defined."
)


def _differences(values: object) -> Any:
    """Return the differences of all pairs, 1 on the diagonal."""
    pairs = row(values) - column(values)
    return with_diagonal(pairs, aten.ones_like(values))


def _check_phase(turning: Any, name: str, what: str) -> None:
    """Raise torch's error for a loss that depends on the phase of the vectors."""
    if not turning.dtype.is_complex or turning._wraps:  # a batch cannot be asked
        return
    size = aten.amax(aten.abs(aten.imag(turning))).item() if turning._sig.spec.numel else 0.0
    if size > 1e-2:
        raise RuntimeError(f"{name}: " + _PHASE.format(what=what))


def eigh(grads: Sequence[Tensor], compute_v: bool, result0: Tensor, result1: Tensor) -> Any:
    """`_linalg_eigh`: the vectors turn by what the values lie apart."""
    grad_values, grad_vectors = grads
    if not compute_v:
        raise RuntimeError(
            "linalg_eigh: Setting compute_v to false in torch.linalg.eigh doesn't compute derivatives as a consequence of "
            "not computing eigenvectors. Use torch.linalg.eigvalsh(...) instead."
        )
    if grad_vectors is None:
        return product(result1 * row(grad_values), adjoint(result1))
    turned = product(adjoint(result1), grad_vectors)
    _check_phase(diagonal(turned), "linalg_eigh_backward", "eigenvectors")
    middle = _skew(turned) / (2 * _differences(result0))
    zero = aten.zeros_like(result0) if grad_values is None else grad_values
    middle = with_diagonal(middle, _as(zero, middle))
    return product(result1, middle, adjoint(result1))


def _as(values: Any, like: Any) -> Any:
    return values if values.dtype is like.dtype else aten._to_copy(values, dtype=like.dtype)


def eig(grads: Sequence[Tensor], self_spec: Spec, result0: Tensor, result1: Tensor) -> Any:
    """`linalg_eig`; the gradient of a real matrix is real."""
    grad_values, grad_vectors = grads
    if grad_vectors is None:
        answer = aten.linalg_solve(adjoint(result1), column(grad_values) * adjoint(result1))
    else:
        turned = product(adjoint(result1), grad_vectors)
        _check_phase(diagonal(turned), "linalg_eig_backward", "eigenvectors")
        lengths = product(adjoint(result1), result1 * row(_as(aten.real(diagonal(turned)), turned)))
        middle = (turned - lengths) / conj(_differences(result0))
        middle = with_diagonal(middle, aten.zeros_like(result0) if grad_values is None else grad_values)
        answer = aten.linalg_solve(adjoint(result1), product(middle, adjoint(result1)))
    return answer if self_spec.dtype.is_complex else aten.real(answer)


def _outside(grad: Tensor, values: object, vectors: object) -> Any:
    """Return what moves columns out of the space they span, by the size of their values."""
    scaled = grad / row(values)
    return scaled - product(vectors, product(adjoint(vectors), scaled))


def _skew(matrix: Tensor) -> Any:
    return matrix - adjoint(matrix)


def _core(grad_u: object, grad_s: object, grad_v: object, left: Any, values: Any, right: object) -> Any:
    """Return the gradient in the basis of the singular vectors."""
    squares = _differences(values * values)
    turn_u = None if grad_u is None else _skew(product(adjoint(left), grad_u))
    turn_v = None if grad_v is None else _skew(product(right, adjoint(grad_v)))
    if turn_u is not None and turn_v is not None:
        _check_phase(diagonal(turn_u) + diagonal(turn_v), "svd_backward", "singular vectors")
        core = (turn_u * row(values) + column(values) * turn_v) / squares
    elif turn_u is not None:
        core = turn_u / squares * row(values)
    else:
        core = column(values) * (turn_v / squares)
    if grad_s is not None:
        core = core + aten.diag_embed(_as(grad_s, core))
    if turn_u is not None and turn_v is not None and left.dtype.is_complex:
        core = core + aten.diag_embed(diagonal(turn_u) / (2.0 * values))
    return core


def svd(grads: Sequence[Tensor], result0: Tensor, result1: Tensor, result2: Tensor) -> Any:
    """`_linalg_svd`."""
    grad_u, grad_s, grad_v = grads
    values, inner = result1, result1.shape[-1]
    left, right = aten.narrow(result0, -1, 0, inner), aten.narrow(result2, -2, 0, inner)
    if grad_u is None and grad_v is None:
        return product(left * row(_as(grad_s, left)), right)
    grad_u = None if grad_u is None else aten.narrow(grad_u, -1, 0, inner)
    grad_v = None if grad_v is None else aten.narrow(grad_v, -2, 0, inner)
    core = _core(grad_u, grad_s, grad_v, left, values, right)
    answer = product(left, core)
    if grad_u is not None and left.shape[-2] > inner:
        answer = answer + _outside(grad_u, values, left)
    answer = product(answer, right)
    if grad_v is not None and right.shape[-1] > inner:
        answer = answer + product(left, adjoint(_outside(adjoint(grad_v), values, adjoint(right))))
    return answer


derivative("_linalg_eigh", A=eigh)
derivative("linalg_eig", self=eig)
derivative("_linalg_svd", A=svd)
