"""Running sums, products and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


def _wide(out: Any) -> Any:
    """The accumulator: twice the precision of single, so that long sums keep their digits."""
    return {"f": np.float64, "c": np.complex128}.get(out.dtype.kind, out.dtype)


@kernel("cumsum")
def cumsum(out: Any, self: Any, axis: int) -> None:
    """Running sums."""
    if self.ndim == 0:
        out[...] = self
    else:
        out[...] = np.add.accumulate(self, axis, _wide(out))


@kernel("cumprod")
def cumprod(out: Any, self: Any, axis: int) -> None:
    """Running products."""
    if self.ndim == 0:
        out[...] = self
    else:
        out[...] = np.multiply.accumulate(self, axis, _wide(out))


def _running(outs: tuple[Any, Any], self: Any, axis: int, better: Any) -> None:
    values, indices = outs
    if self.ndim == 0 or self.size == 0:
        values[...] = self
        indices[...] = 0
        return
    extremes = better.accumulate(self, axis)
    shape = [1] * self.ndim
    shape[axis] = -1
    found = self == extremes if self.dtype.kind != "f" else (self == extremes) | np.isnan(self)
    positions = np.where(found, np.arange(self.shape[axis]).reshape(shape), 0)
    indices[...] = np.maximum.accumulate(positions, axis)
    values[...] = extremes


@kernel("cummax")
def cummax(outs: tuple[Any, Any], self: Any, axis: int) -> None:
    """Running largest and where it was last reached."""
    _running(outs, self, axis, np.maximum)


@kernel("cummin")
def cummin(outs: tuple[Any, Any], self: Any, axis: int) -> None:
    """Running smallest and where it was last reached."""
    _running(outs, self, axis, np.minimum)
