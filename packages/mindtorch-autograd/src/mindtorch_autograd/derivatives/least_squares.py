"""Least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.matrices import is_vector_rhs
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint
from .matrices import adjoint, column, product, row
from .pseudo_inverse import pseudo_inverse


@joint("self", "b")
def lstsq(grads: Sequence[Tensor], needs: Sequence[bool], self: Tensor, b: Tensor, result0: Tensor) -> Any:
    """`linalg_lstsq`: of the solution as the pseudo-inverse gives it, and of the residuals."""
    vector = is_vector_rhs(self, b._sig.spec)
    right = column(b) if vector else b
    matrix = given = None
    if grads[0] is not None:
        grad = column(grads[0]) if vector else grads[0]
        inverse = aten.linalg_pinv(self)
        given = product(adjoint(inverse), grad)
        if needs[0]:
            matrix = pseudo_inverse(product(grad, adjoint(right)), inverse, self)
    if len(grads) > 1 and grads[1] is not None and grads[1]._sig.spec.numel:
        solution = column(result0) if vector else result0
        away = 2 * row(grads[1]) * (right - product(self, solution))
        given = away if given is None else given + away
        if needs[0]:
            toward = -product(away, adjoint(solution))
            matrix = toward if matrix is None else matrix + toward
    if given is not None and vector:
        given = aten.squeeze(given, -1)
    return matrix, given


derivative("linalg_lstsq", lstsq, outputs=(0, 1))
