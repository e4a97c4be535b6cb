"""Pseudo-inverses."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative
from .matrices import adjoint, product


def pseudo_inverse(grad: Tensor, result: Tensor, self: Tensor) -> Any:
    """`linalg_pinv`, in the order that makes the smaller products."""
    turned, given = adjoint(result), adjoint(grad)
    if self.shape[-2] <= self.shape[-1]:
        small = product(given, result)
        more = product(small, turned)
        return (
            -adjoint(product(result, small)) + more - product(product(self, result), more)
            + product(product(turned, result), given - product(small, self))
        )  # fmt: skip
    small = product(result, given)
    more = product(turned, small)
    return (
        -adjoint(product(small, result)) + product(product(given - product(self, small), result), turned) + more
        - product(product(more, result), self)
    )  # fmt: skip


derivative("linalg_pinv.atol_rtol_tensor", self=lambda grad, result, self: pseudo_inverse(grad, result, self))
