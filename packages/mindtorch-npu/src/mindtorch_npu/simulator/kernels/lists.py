"""Operators over lists of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel, table

OUT = ("out",)


def _each(name: str) -> Callable[..., Any]:
    return lambda x: ([table()["aclnn" + name].fn(one) for one in x],)


def _with_number(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, number: ([fn(one, one.dtype.type(number)) for one in x],)


def _with_number_of_the_device(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, number: ([fn(one, number.reshape(-1)[0]) for one in x],)


def _pairs(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y, *alpha: (
        [fn(a, b * b.dtype.type(alpha[0]) if alpha else b) for a, b in zip(x, y, strict=True)],
    )


def _threes(fn: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y, z, number: ([a + a.dtype.type(number) * fn(b, c) for a, b, c in zip(x, y, z, strict=True)],)


for _name in ("Abs", "Acos", "Asin", "Atan", "Cos", "Cosh", "Erf", "Erfc", "Exp", "Expm1", "Log", "Log10", "Log1p",
              "Log2", "Neg", "Reciprocal", "Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"):  # fmt: skip
    kernel("Foreach" + _name, _each(_name), outputs=OUT)
for _name, _fn in {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "Maximum": np.maximum,
    "Minimum": np.minimum,
}.items():  # fmt: skip
    kernel(f"Foreach{_name}ScalarV2", _with_number(_fn), outputs=OUT)
    kernel(f"Foreach{_name}Scalar", _with_number_of_the_device(_fn), outputs=OUT)
    kernel(f"Foreach{_name}List" + ("V2" if _name in ("Add", "Sub") else ""), _pairs(_fn), outputs=OUT)
kernel("ForeachAddcmulScalarV2", _threes(np.multiply), outputs=OUT)
kernel("ForeachAddcdivScalarV2", _threes(np.divide), outputs=OUT)
kernel(
    "ForeachLerpScalar",
    lambda x, y, weight: ([a + a.dtype.type(weight) * (b - a) for a, b in zip(x, y, strict=True)],),
    outputs=OUT,
)
kernel(
    "ForeachNorm",
    lambda x, order: ([np.linalg.norm(one.reshape(-1), order).astype(one.dtype) for one in x],),
    outputs=OUT,
)
