"""Elementwise ops in every dtype: results, promotion, and which dtypes torch's kernels lack."""

import pytest

from .expressions import agrees

DTYPES = ("float64", "float16", "bfloat16", "complex64", "int64", "int8", "uint8", "bool", "uint16")
UNARY = (
    "abs neg sign sgn frac floor ceil trunc round square reciprocal rsqrt sqrt exp expm1 log1p erf erfc erfinv lgamma "
    "digamma i0 logit sigmoid sinc signbit angle isfinite isposinf nan_to_num bitwise_not logical_not "
    "conj_physical deg2rad "
    "isreal positive"
).split()
BINARY = (
    "add sub mul div pow remainder fmod floor_divide maximum minimum fmax fmin atan2 hypot copysign nextafter "
    "logaddexp "
    "logaddexp2 heaviside gcd lcm xlogy eq lt bitwise_and bitwise_left_shift logical_xor ldexp float_power isclose "
    "clamp_min"
).split()
NUMBERS = [
    "t.pow(i, -1)",
    "t.pow(i, 2.5)",
    "t.pow(2, i.abs())",
    "t.pow(b, True)",
    "t.clamp(i, 0.5, 1.5)",
    "t.clamp(v, 2, 1)",
    "t.clamp(b, 0, 1)",
    "t.clamp(c, 0, 1)",
    "t.clamp(v)",
    "t.clamp_min(b, True)",
    "t.clamp_max(c, 1)",
    "t.div(i, 2, rounding_mode='floor')",
    "t.div(i, 2, rounding_mode='trunc')",
    "t.div(v, 0, rounding_mode='floor')",
    "t.div(i, 0, rounding_mode='floor')",
    "t.div(v, 2, rounding_mode='x')",
    "t.div(c, c, rounding_mode='floor')",
    "t.remainder(i, 0)",
    "t.fmod(i, -2)",
    "t.remainder(-i, 3)",
    "t.add(v, v, alpha=True)",
    "t.add(i, i, alpha=1.5)",
    "t.sub(b, b)",
    "t.lerp(v, v * 2, 0.25)",
    "t.lerp(v, v.double(), 0.5)",
    "t.lerp(i, i, 0.5)",
    "t.addcdiv(v, i[0, 0], i[0, 0])",
    "t.addcmul(b, b, b)",
    "t.heaviside(v, v.double())",
    "t.isclose(v, v.double())",
    "t.round(v, decimals=1)",
    "t.round(i, decimals=1)",
    "t.where(v, v, v)",
    "t.where(v > 1, v, 0)",
    "t.fill(v, 2.0)",
    "t.rsub(v, 1)",
    "2 - b",
    "t.Tensor.__radd__(2, 3)",
    "t.max(v, i[0, 0])",
    "t.nan_to_num(f, 1.0)",
    "t.copysign(v, -0.0)",
    "1 / i",
    "i // 2",
    "i % -3",
    "2 ** v",
    "v ** 2",
    "i << 1",
    "t.bitwise_and(2, 3)",
]


def operand(dtype: str, shift: int = 0) -> str:
    values = "[True, False, True]" if dtype == "bool" else f"[{1 + shift}, {2 + shift}, 3]"
    return f"t.tensor({values}, dtype=t.{dtype})"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name, dtype):
    agrees(f"t.{name}({operand(dtype)})")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name, dtype):
    agrees(f"t.{name}({operand(dtype)}, {operand(dtype, 1)})")


@pytest.mark.parametrize("expression", NUMBERS)
def test_numbers(expression):
    agrees(expression)
