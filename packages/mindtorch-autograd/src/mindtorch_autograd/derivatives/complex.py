"""Complex numbers and views of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint
from .numbers import conj


@joint("abs", "angle")
def polar_grad(grad: Tensor, result: Tensor, needs: Sequence[bool]) -> tuple[Any, Any]:
    """The parts of the gradient along and across the result."""
    radial = aten.real(grad * conj(aten.sgn(result)))
    tangential = aten.real(grad * conj(result * 1j))
    return radial, tangential


derivative("complex", real=lambda grad: aten.real(grad), imag=lambda grad: aten.imag(grad))
derivative("polar", polar_grad)
derivative("_conj", self=lambda grad: conj(grad), tangent=lambda tangent, self: aten._conj(tangent))
derivative("_neg_view", self=lambda grad: aten.neg(grad), tangent=lambda tangent, self: aten._neg_view(tangent))
derivative("view_as_real", self=lambda grad: aten.view_as_complex(aten.contiguous(grad)))
derivative("view_as_complex", self=lambda grad: aten.view_as_real(grad))
