"""Elementwise ops composed of others."""

from __future__ import annotations

from typing import Any, cast

from mindtorch_storage.dtype import complex128, float64
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor, TensorOrScalar


def div_mode(self: Tensor, other: TensorOrScalar, rounding_mode: str | None) -> Any:
    """`div` with a rounding mode: None, "floor" or "trunc"."""
    if rounding_mode is None:
        return aten.div(self, other)
    if rounding_mode == "floor":
        return aten._div_floor(self, other)
    if rounding_mode == "trunc":
        return aten._div_trunc(self, other)
    raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")


def ldexp(self: Tensor, other: Tensor) -> Any:
    """`self * 2 ** other`."""
    return aten.mul(self, aten.pow(2.0, other))


def float_power(self: TensorOrScalar, exponent: TensorOrScalar) -> Any:
    """`pow` in float64 or complex128."""
    dtype = _power_dtype(self, exponent)
    first, second = (
        cast(Any, value).to(dtype) if isinstance(value, TensorBase) else value for value in (self, exponent)
    )
    return aten.pow(first, second)


def float_power_(self: Tensor, exponent: TensorOrScalar) -> Any:
    """`float_power` written over the base, which has the dtype of the result already."""
    dtype = _power_dtype(self, exponent)
    check(
        self.dtype is dtype,
        lambda: (
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires "
            f"dtype {dtype.scalar_name}"
        ),
    )
    return aten.pow_(self, cast(Any, exponent).to(dtype) if isinstance(exponent, TensorBase) else exponent)


def _power_dtype(*operands: TensorOrScalar) -> Dtype:
    is_complex = any(
        value.dtype.is_complex if isinstance(value, TensorBase) else isinstance(value, complex) for value in operands
    )
    return complex128 if is_complex else float64


def isclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Any:
    """`|self - other| <= atol + rtol * |other|`, infinities equal themselves."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    if not rtol >= 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if not atol >= 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    close = aten.eq(self, other)
    floating = self.dtype.is_floating_point or self.dtype.is_complex
    if equal_nan and floating:
        close = aten.logical_or(close, aten.logical_and(aten.ne(self, self), aten.ne(other, other)))
    if rtol == 0 and atol == 0:
        return close
    if not floating:
        self, other = self.to(float64), other.to(float64)
    allowed = aten.add(aten.abs(aten.mul(other, rtol)), atol)
    error = aten.abs(aten.sub(self, other))
    finite = aten.logical_and(aten.isfinite(error), aten.le(error, allowed))
    return aten.logical_or(close, finite)


def allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    """All elements `isclose`."""
    return bool(aten.all(aten.isclose(self, other, rtol, atol, equal_nan)).item())
