"""Bitwise logic and shifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel, ufunc

for _name, _function in {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}.items():
    kernel(*(f"{_name}.{overload}" for overload in ("Tensor", "Scalar", "Scalar_Tensor")))(ufunc(_function))
kernel("bitwise_not")(ufunc(np.bitwise_not))


@kernel(*(f"bitwise_left_shift.{overload}" for overload in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")))
def left_shift(out: Any, self: Any, other: Any) -> None:
    """Shift towards the high bits; 0 when the count is negative or too large, as torch."""
    bits = out.dtype.itemsize * 8
    other = np.asarray(other, out.dtype)
    fits = (other >= 0) & (other < bits)
    out[...] = np.where(fits, np.left_shift(self, np.where(fits, other, 0)), 0)


@kernel(*(f"bitwise_right_shift.{overload}" for overload in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")))
def right_shift(out: Any, self: Any, other: Any) -> None:
    """Arithmetic shift towards the low bits; a count that is negative or too large leaves only the sign."""
    bits = out.dtype.itemsize * 8
    other = np.asarray(other, out.dtype)
    fits = (other >= 0) & (other < bits)
    shifted = np.right_shift(self, np.where(fits, other, bits - 1).astype(out.dtype))
    out[...] = shifted if out.dtype.kind == "i" else np.where(fits, shifted, 0)
