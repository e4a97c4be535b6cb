"""How the native loops round a product with a sum: once where the instruction set has that."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np

from mindtorch_cpu import native
from mindtorch_cpu.random.fused import fma32, fma64

FUSED = native.module is not None and (native.module.INSTRUCTIONS in ("v3", "v4") or platform.machine() == "aarch64")


def fmadd(a: Any, b: Any, c: Any) -> Any:
    """Return `a * b + c` of arrays and numbers of one dtype, as the loops round it."""
    if not FUSED:
        return a * b + c
    x, y, z = (np.asarray(one, np.float64) for one in (a, b, c))
    plain = np.asarray(x * y + z)
    once = fma64(x, y, z) if c.dtype == np.float64 else fma32(x, y, z)
    return np.where(np.isfinite(plain) & (plain != 0), once, plain).astype(c.dtype)


def fused(row: str, values: tuple[Any, ...]) -> Any:
    """Return what a row with a product and a sum gives, of operands that are arrays and a number."""
    first, second, *others = values
    number = first.dtype.type
    if row == "rsub.Tensor":
        return fmadd(-first, number(others[0]), second)
    if row in ("add.Tensor", "sub.Tensor"):
        return fmadd(second, number(others[0] if row == "add.Tensor" else -others[0]), first)
    if row == "addcmul":
        return fmadd(second * number(others[1]), others[0], first)
    weight = np.asarray(others[0], number)
    near, far = fmadd(second - first, weight, first), fmadd(first - second, number(1) - weight, second)
    return np.where(np.abs(weight) < 0.5, near, far)
