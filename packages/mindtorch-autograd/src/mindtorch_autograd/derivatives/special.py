"""Special functions."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor, TensorOrScalar

from ..derivative import NON_DIFFERENTIABLE, derivative
from .numbers import not_implemented

_SQRT_PI = math.sqrt(math.pi)


def entr_grad(grad: Tensor, self: Tensor) -> Any:
    """`-log(x) - 1`."""
    return grad * aten.where(aten.eq(self, 0), math.inf, -aten.log(self) - 1)


def i1_grad(grad: Tensor, self: Tensor, result: Tensor) -> Any:
    """`i0(x) - i1(x) / x`, 0.5 at 0."""
    tiny = aten.le(aten.abs(self), math.ulp(1.0) if self.dtype.name == "float64" else 1.1920929e-07)
    safe = aten.where(tiny, 1.1920929e-07, self)
    return grad * aten.where(tiny, 0.5, aten.i0(safe) - result * aten.reciprocal(safe))


def i1e_grad(grad: Tensor, self: Tensor, result: Tensor) -> Any:
    """`i0e(x) - i1e(x) (sgn(x) + 1 / x)`, 0.5 at 0."""
    tiny = aten.le(aten.abs(self), math.ulp(1.0) if self.dtype.name == "float64" else 1.1920929e-07)
    safe = aten.where(tiny, 1.1920929e-07, self)
    slope = aten.special_i0e(safe) - result * (aten.sgn(self) + aten.reciprocal(safe))
    return grad * aten.where(tiny, 0.5, slope)


def log_ndtr_grad(grad: Tensor, self: Tensor) -> Any:
    """Density over distribution, through erfcx so that it holds far left."""
    far = aten.lt(self, 1.0)
    scale = math.sqrt(2 / math.pi)
    scaled = aten.reciprocal(aten.special_erfcx(self * -math.sqrt(0.5))) * scale
    plain = aten.exp(self * self * -0.5) / (math.sqrt(2 * math.pi) * aten.special_ndtr(self))
    return grad * aten.where(far, scaled, plain)


def igamma_other(grad: Tensor, self: Tensor, other: Tensor) -> Any:
    """`exp((a - 1) log(x) - x - lgamma(a))`."""
    return grad * aten.exp((self - 1) * aten.log(other) - other - aten.lgamma(self))


def mvlgamma_grad(grad: Tensor, self: Tensor, p: int) -> Any:
    """Sum of digammas."""
    shifts = aten.arange(-p / 2 + 0.5, 0.5, 0.5, dtype=self.dtype, device=self.device)
    return grad * aten.sum(aten.digamma(aten.unsqueeze(self, -1) + shifts), -1)


def xlog1py_self(grad: Tensor, self: Tensor, other: Tensor) -> Any:
    """`log1p(y)`, 0 where x is 0 and y is not above -1."""
    if not hasattr(other, "dtype"):
        return grad * aten.where(aten.eq(self, 0.0), 0.0, math.log1p(other) if other > -1 else math.nan)
    return grad * aten.where(aten.logical_and(aten.eq(self, 0.0), aten.le(other, -1.0)), 0.0, aten.log1p(other))


def xlog1py_other_scalar(grad: TensorOrScalar, self: Tensor, other: Any) -> Any:
    """`log1p(y)`."""
    if other > -1:
        return grad * math.log1p(other)
    return grad * aten.where(aten.eq(self, 0.0), 0.0, -math.inf if other == -1 else math.nan)


def zeta_other(grad: Tensor, self: TensorOrScalar, other: Tensor) -> Any:
    """`-s zeta(s + 1, q)`."""
    return grad * -self * aten.special_zeta(self + 1.0, other)


derivative("special_entr", self=entr_grad)
derivative("special_erfcx", self=lambda grad, self, result: (2.0 * self * result - 2.0 / _SQRT_PI) * grad)
derivative(
    "special_i0e",
    self=lambda grad, self, result: grad * (aten.special_i1e(self) - aten.sgn(self) * result),
    node="SpecialI0EBackward0",
)
derivative("special_i1", self=i1_grad)
derivative("special_i1e", self=i1e_grad, node="SpecialI1EBackward0")
derivative("special_log_ndtr", self=log_ndtr_grad)
derivative("special_ndtri", self=lambda grad, result: grad * math.sqrt(2 * math.pi) * aten.exp(result * result / 2))
derivative(
    "special_xlog1py",
    self=xlog1py_self,
    other=lambda grad, self, other: grad * self / (other + 1),
    node="SpecialXlog1PyBackward0",
)
derivative(
    "special_xlog1py.self_scalar",
    other=lambda grad, self, other: grad * self / (other + 1),
    node="SpecialXlog1PyBackward1",
)
derivative("special_xlog1py.other_scalar", self=xlog1py_other_scalar, node="SpecialXlog1PyBackward2")
derivative("special_zeta", self=not_implemented("zeta"), other=zeta_other)
derivative("special_zeta.self_scalar", other=zeta_other, node="SpecialZetaBackward1")
derivative("special_zeta.other_scalar", self=not_implemented("zeta"), node="SpecialZetaBackward2")
derivative("igamma", self=not_implemented("igamma: input"), other=igamma_other)
derivative(
    "igammac",
    self=not_implemented("igammac: input"),
    other=lambda grad, self, other: -igamma_other(grad, self, other),
)
derivative("polygamma", self=lambda grad, self, n: grad * aten.polygamma(n + 1, self))
derivative("mvlgamma", self=mvlgamma_grad)
derivative("frexp.Tensor", self=lambda grad, result1: grad / aten.pow(2.0, result1), node="FrexpBackward0")

_FORMS = ("", ".x_scalar", ".n_scalar")
_POLYNOMIALS = (
    *(f"{shifted}chebyshev_polynomial_{kind}" for shifted in ("", "shifted_") for kind in "tuvw"), "hermite_polynomial_h",
    "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p",
)  # fmt: skip
derivative(
    "special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 "
    "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 "
    "special_scaled_modified_bessel_k1 special_spherical_bessel_j0",
    NON_DIFFERENTIABLE,
)
derivative(" ".join(f"special_{name}{form}" for name in _POLYNOMIALS for form in _FORMS), NON_DIFFERENTIABLE)
