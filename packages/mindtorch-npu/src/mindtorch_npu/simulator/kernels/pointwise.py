"""Elementwise operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.kernels._special import special
from mindtorch_npu.simulator.typing import Array


def _real(x: Any) -> Any:
    return x if getattr(x, "dtype", None) is not None and x.dtype.kind in "fc" else np.asarray(x, np.float32)


def _divide(x: Array, y: Array | int, mode: int) -> Any:
    if mode == 0:
        return np.true_divide(_real(x), y)
    whole = np.result_type(x, y).kind in "iu"
    if mode == 2:
        quotient = np.floor_divide(x, y)
        return quotient if whole else np.where(np.equal(y, 0), np.true_divide(x, y), quotient)
    return (
        np.trunc(np.true_divide(x, y)) if not whole else np.floor_divide(np.abs(x), np.abs(y)) * np.sign(x) * np.sign(y)
    )


def _lerp(x: Array, end: Array, weight: Array | float) -> Any:
    kind = np.result_type(x, end).type
    low = np.less(np.abs(weight), 0.5)
    weight = np.asarray(weight, kind)
    return np.where(low, x + weight * (end - x), end - (end - x) * (kind(1) - weight))


def _pow(x: Array | int, y: Array | float) -> Any:
    if not isinstance(y, np.ndarray) and y == 2:
        return x * x
    if not isinstance(y, np.ndarray) and y == 0.5:
        return np.sqrt(_real(x))
    if np.result_type(x, y).kind in "iu":
        negative = np.less(y, 0)
        power = np.power(np.asarray(x), np.where(negative, 0, y))
        parity = np.where(np.asarray(y) % 2 == 0, 1, -1)
        return np.where(negative, np.where(np.equal(x, 1), 1, np.where(np.equal(x, -1), parity, 0)), power)
    return np.power(x, y)


def _clamp(x: Array, low: Array | int | None, high: Array | float | None) -> Any:
    x = x if low is None else np.maximum(x, np.asarray(low).astype(x.dtype) if not isinstance(low, np.ndarray) else low)
    if high is None:
        return x
    return np.minimum(x, np.asarray(high).astype(x.dtype) if not isinstance(high, np.ndarray) else high)


def _floor_mod(x: Array, y: float) -> Any:
    return np.remainder(x, y)


def _close(x: Array, y: Array, rtol: float, atol: float, equal_nan: bool) -> Any:
    return np.isclose(x, y, rtol, atol, equal_nan)


def _round(x: Array, decimals: int) -> Any:
    scale = 10.0 ** abs(decimals)
    return np.rint(x * x.dtype.type(scale)) / x.dtype.type(scale) if decimals >= 0 else np.rint(x / scale) * scale


_UNARY: dict[str, Callable[..., Any]] = {
    "Abs": np.abs, "Neg": np.negative, "Exp": np.exp, "Exp2": np.exp2, "Expm1": np.expm1, "Log": np.log,
    "Log2": np.log2, "Log10": np.log10, "Log1p": np.log1p, "Sqrt": np.sqrt, "Square": np.square, "Sin": np.sin,
    "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan, "Sinh": np.sinh,
    "Cosh": np.cosh, "Tanh": np.tanh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
    "Erf": special("erf"), "Erfc": special("erfc"), "Erfinv": special("erfinv"), "Sigmoid": special("expit"),
    "Lgamma": special("gammaln"), "Digamma": special("digamma"), "Sinc": np.sinc,
}  # fmt: skip
for _name, _fn in _UNARY.items():
    kernel(_name, (lambda fn: lambda x: fn(x if _name_keeps(fn) else _real(x)))(_fn))


def _name_keeps(fn: Callable[..., Any]) -> bool:
    """True for functions that integers stay integers in."""
    return fn in (np.abs, np.negative, np.square)


kernel("Rsqrt", lambda x: 1 / np.sqrt(_real(x)))
kernel("Reciprocal", lambda x: 1 / _real(x))
kernel("Floor", lambda x: np.floor(x) if x.dtype.kind == "f" else x)
kernel("Ceil", lambda x: np.ceil(x) if x.dtype.kind == "f" else x)
kernel("Round", lambda x: np.rint(x) if x.dtype.kind == "f" else x)
kernel("Trunc", lambda x: np.trunc(x) if x.dtype.kind == "f" else x)
kernel("RoundDecimals", _round)
kernel("Frac", lambda x: x - np.trunc(x))
kernel("Sign", np.sign)
kernel("Signbit", np.signbit)
kernel("IsFinite", np.isfinite)
kernel("IsInf", np.isinf)
kernel("IsPosInf", np.isposinf)
kernel("IsNegInf", np.isneginf)
kernel("IsClose", _close)
kernel("BitwiseNot", np.invert)
kernel("LogicalNot", np.logical_not)
kernel("Cast", lambda x, dtype: x)
kernel("NanToNum", lambda x, nan, high, low: np.nan_to_num(x, nan=nan, posinf=high, neginf=low))
kernel("Add", lambda x, y, alpha: np.add(x, y if alpha == 1 else np.multiply(y, alpha)))
kernel("Adds", lambda x, y, alpha: np.add(x, y * alpha))
kernel("Sub", lambda x, y, alpha: np.subtract(x, y if alpha == 1 else np.multiply(y, alpha)))
kernel("Subs", lambda x, y, alpha: np.subtract(x, y * alpha))
kernel("Rsub", lambda x, y, alpha: np.subtract(y, np.multiply(x, alpha)))
kernel("Rsubs", lambda x, y, alpha: np.subtract(y, np.multiply(x, alpha)))
kernel("Mul", np.multiply)
kernel("Muls", np.multiply)
kernel("Div", lambda x, y: _divide(x, y, 0))
kernel("Divs", lambda x, y: _divide(x, y, 0))
kernel("DivMod", _divide)
kernel("DivMods", _divide)
kernel("FloorDivide", lambda x, y: _divide(x, y, 2))
kernel("FloorDivides", lambda x, y: _divide(x, y, 2))
for _name in ("RemainderTensorTensor", "RemainderTensorScalar", "RemainderScalarTensor"):
    kernel(_name, _floor_mod)
kernel("FmodTensor", np.fmod)
kernel("FmodScalar", np.fmod)
for _name in ("PowTensorTensor", "PowTensorScalar", "PowScalarTensor"):
    kernel(_name, _pow)
kernel("Addcmul", lambda x, a, b, value: x + (a * b if value == 1 else a * x.dtype.type(value) * b))
kernel("Addcdiv", lambda x, a, b, value: x + (a if value == 1 else a * x.dtype.type(value)) / b)
kernel("Lerp", _lerp)
kernel("Lerps", _lerp)
kernel("Maximum", np.maximum)
kernel("Minimum", np.minimum)
kernel("Clamp", _clamp)
kernel("ClampTensor", _clamp)
kernel("ClampMin", lambda x, low: _clamp(x, low, None))
kernel("ClampMax", lambda x, high: _clamp(x, None, high))
kernel("ClampMinTensor", lambda x, low: _clamp(x, low, None))
kernel("ClampMaxTensor", lambda x, high: _clamp(x, None, high))
kernel("Atan2", np.arctan2)
kernel("LogAddExp", np.logaddexp)
kernel("LogAddExp2", np.logaddexp2)
kernel("XLogYTensor", special("xlogy"))
kernel("Heaviside", lambda x, y: np.where(np.equal(x, 0), y, np.greater(x, 0)))
kernel("Gcd", np.gcd)
kernel("SWhere", lambda condition, x, y: np.where(condition, x, y))
for _name, _fn in {"And": np.bitwise_and, "Or": np.bitwise_or, "Xor": np.bitwise_xor}.items():
    kernel(f"Bitwise{_name}Tensor", _fn)
    kernel(f"Bitwise{_name}Scalar", _fn)
kernel("LogicalAnd", np.logical_and)
kernel("LogicalOr", np.logical_or)
kernel("LogicalXor", np.logical_xor)
kernel("LeftShift", np.left_shift)
kernel("LeftShifts", np.left_shift)
kernel("RightShift", np.right_shift)
for _name, _fn in {
    "Eq": np.equal, "Ne": np.not_equal, "Gt": np.greater, "Ge": np.greater_equal, "Lt": np.less, "Le": np.less_equal,
}.items():  # fmt: skip
    kernel(f"{_name}Tensor", _fn)
    kernel(f"{_name}Scalar", _fn)
kernel("Equal", lambda x, y: np.asarray(x.shape == y.shape and bool(np.all(x == y))))
kernel("Real", lambda x: x.real)
kernel("Complex", lambda re, im: re + 1j * im)
kernel("Polar", lambda size, angle: size * (np.cos(angle) + 1j * np.sin(angle)))


def _logit(x: Array, eps: float) -> Any:
    x = x if eps < 0 else np.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
    return np.log(x / (1 - x))


def _logit_grad(x: Array, grad: Array, eps: float) -> Any:
    low, high, outside = (0.0, 1.0, np.nan) if eps < 0 else (eps, 1 - eps, 0.0)
    return np.where((x < low) | (x > high), outside, grad / (x * (1 - x)))


kernel("Logit", _logit, outputs=("out",))
kernel("LogitGrad", _logit_grad, outputs=("out",))
