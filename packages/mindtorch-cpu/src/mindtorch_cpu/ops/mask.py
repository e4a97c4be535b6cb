"""Elements chosen by masks, and the positions where masks hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..many_dimensions import broadcast_arrays
from ..number import number_of
from ..register import kernel


@kernel("masked_fill.Scalar", "masked_fill.Tensor", upcast=False)
def masked_fill(out: Any, self: Any, mask: Any, value: Any) -> None:
    """A value where the mask holds."""
    value = number_of(value.item() if isinstance(value, np.ndarray) else value, out.dtype)
    if out is not self:
        out[...] = self
    np.copyto(out, value, where=mask)


@kernel("masked_scatter", upcast=False)
def masked_scatter(out: Any, self: Any, mask: Any, source: Any) -> None:
    """The source's elements in order where the mask holds."""
    if out is not self:
        out[...] = self
    mask = np.broadcast_to(mask, out.shape)
    count = int(np.count_nonzero(mask))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[mask] = source.reshape(-1)[:count]


@kernel("masked_select", upcast=False)
def masked_select(self: Any, mask: Any) -> Any:
    """The elements where the mask holds."""
    self, mask = broadcast_arrays(self, mask)
    return self[mask]


def _positions_of(self: Any) -> Any:
    if self.ndim == 0:
        return np.zeros((1 if self else 0, 0), np.int64)
    if self.dtype.names:  # complex32, which numpy has as two halves
        self = (self["real"] != 0) | (self["imag"] != 0)
    return np.array((self if self.dtype.kind in "fciub" else self.astype(np.float32)).nonzero()).T


@kernel("nonzero", upcast=False)
def nonzero(self: Any) -> Any:
    """Positions of the non-zero elements, a row each; laid out by dimension, as torch does."""
    return _positions_of(self)


@kernel("nonzero_static", upcast=False)
def nonzero_static(out: Any, self: Any, size: int, fill_value: int) -> None:
    """Positions of the first `size` non-zero elements, missing rows filled."""
    found = _positions_of(self)[:size]
    out[...] = fill_value
    out[: len(found)] = found
