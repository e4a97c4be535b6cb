"""Orthogonal factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint
from .matrices import adjoint, column, halved_diagonal, product
from .numbers import conj, not_implemented


def qr(grads: Sequence[Tensor], mode: str, result0: Tensor, result1: Tensor) -> Any:
    """`linalg_qr`: only where the orthogonal factor was computed and is determined."""
    grad_q, grad_r = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
            "mode='reduced') if you are going to differentiate through linalg.qr."
        )
    rows, columns = result0.shape[-2], result1.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    middle = None if grad_r is None else product(grad_r, adjoint(result1))
    if grad_q is not None:
        turned = product(adjoint(result0), grad_q)
        middle = -turned if middle is None else middle - turned
    if rows >= columns:
        upper = aten.triu(middle)
        answer = product(result0, halved_diagonal(upper + adjoint(upper)))
        answer = answer if grad_q is None else answer + grad_q
        return aten.linalg_solve_triangular(adjoint(result1), answer, upper=False, left=False)
    square = aten.narrow(result1, -1, 0, rows)
    lower = halved_diagonal(aten.tril(adjoint(middle) - middle))
    answer = product(result0, aten.linalg_solve_triangular(adjoint(square), lower, upper=False, left=False))
    answer = aten.constant_pad_nd(answer, [0, columns - rows])
    return answer if grad_r is None else answer + product(result0, grad_r)


def _steps(reflectors: Any, scales: Any) -> tuple[list[Any], list[Any]]:
    """Return the vectors of the reflections, and what each acts on: the product of those after it."""
    count, rows, columns = scales.shape[-1], reflectors.shape[-2], reflectors.shape[-1]
    strict = aten.tril(reflectors, -1) + aten.eye(rows, columns, dtype=reflectors.dtype, device=reflectors.device)
    vectors = [aten.narrow(strict, -1, at, 1) for at in range(count)]
    state = aten.expand(
        aten.eye(rows, columns, dtype=reflectors.dtype, device=reflectors.device), list(reflectors.shape)
    )
    states = [state]
    for at in range(count - 1, 0, -1):
        state = _reflect(vectors[at], aten.narrow(scales, -1, at, 1), state)
        states.append(state)
    return vectors, states[::-1]


def _reflect(vector: object, scale: object, state: object) -> Any:
    return state - column(scale) * product(vector, product(adjoint(vector), state))


def householder(grad: Tensor, reflectors: Any, scales: object) -> tuple[Any, Any]:
    """Gradients of reflectors and scales: reflections undone one after the other, first to last."""
    vectors, states = _steps(reflectors, scales)
    grad_vectors, grad_scales = [], []
    for at, (vector, state) in enumerate(zip(vectors, states, strict=True)):
        scale = column(aten.narrow(scales, -1, at, 1))
        along = product(adjoint(vector), state)
        back = product(adjoint(grad), vector)
        grad_scales.append(-aten.squeeze(conj(product(along, back)), -1))
        grad_vector = -(conj(scale) * product(grad, adjoint(along))) - scale * product(state, back)
        grad_vectors.append(_below(grad_vector, at))
        grad = grad - conj(scale) * product(vector, product(adjoint(vector), grad))
    columns = reflectors.shape[-1] - len(grad_vectors)
    together = aten.cat(grad_vectors, -1)
    return aten.constant_pad_nd(together, [0, columns]), aten.cat(grad_scales, -1)


def _below(vector: Any, at: int) -> Any:
    """Return a column with its first `at` + 1 elements zero: they are not part of a reflector."""
    rows = vector.shape[-2]
    kept = aten.narrow(vector, -2, min(at + 1, rows), rows - min(at + 1, rows))
    return aten.constant_pad_nd(kept, [0, 0, rows - kept.shape[-2], 0])


@joint("input", "tau")
def householder_product(grad: Tensor, input: Tensor, tau: Tensor) -> Any:
    """`linalg_householder_product`."""
    if not (input._sig.spec.numel and tau._sig.spec.numel):
        return None, None
    return householder(grad, input, tau)


@joint("self", "input2", "input3")
def ormqr(
    grad: Tensor, needs: Sequence[bool], self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool
) -> Any:
    """`ormqr`: a product with the whole orthogonal matrix."""
    other = aten.ormqr(self, input2, grad, left, not transpose) if needs[2] else None
    if not (needs[0] or needs[1]) or not (self._sig.spec.numel and input2._sig.spec.numel):
        return None, None, other
    outer = product(grad, adjoint(input3)) if left else product(adjoint(input3), grad)
    outer = adjoint(outer) if transpose else outer
    rows, columns = self.shape[-2:]
    square = aten.constant_pad_nd(self, [0, rows - columns]) if rows > columns else aten.narrow(self, -1, 0, rows)
    reflectors, scales = householder(outer, square, input2)
    if rows > columns:
        reflectors = aten.narrow(reflectors, -1, 0, columns)
    elif rows < columns:
        reflectors = aten.constant_pad_nd(reflectors, [0, columns - rows])
    return reflectors, scales, other


derivative("linalg_qr", A=qr)
derivative("geqrf", self=not_implemented("geqrf"))
derivative("linalg_householder_product", householder_product)
derivative("ormqr", ormqr)
