"""Padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..many_dimensions import combine_at
from ..number import number_of
from ..register import kernel


@kernel("constant_pad_nd", upcast=False)
def constant_pad_nd(out: Any, self: Any, pad: Any, value: Any) -> None:
    """The input inside a constant frame; negative padding cuts."""
    out.fill(0)
    if value != 0:
        out[...] = number_of(value, out.dtype)
    source: list[slice] = [slice(None)] * self.ndim
    target: list[slice] = [slice(None)] * self.ndim
    for place in range(len(pad) // 2):
        left, right = pad[2 * place], pad[2 * place + 1]
        axis = self.ndim - 1 - place
        extent = self.shape[axis]
        source[axis] = slice(max(0, -left), extent - max(0, -right))
        target[axis] = slice(max(0, left), out.shape[axis] - max(0, right))
    out[tuple(target)] = self[tuple(source)]


def _positions(mode: str, extent: int, left: int, right: int) -> Any:
    """Return, for every padded position, the position it copies."""
    places = np.arange(-left, extent + right)
    if mode == "replication":
        return np.clip(places, 0, extent - 1)
    places = np.abs(places)
    return np.where(places >= extent, 2 * (extent - 1) - places, places)


def _maps(mode: str, shape: Any, padding: Any) -> dict[int, Any]:
    return {
        len(shape) - 1 - place: _positions(
            mode, shape[len(shape) - 1 - place], padding[2 * place], padding[2 * place + 1]
        )
        for place in range(len(padding) // 2)
    }


def _forward(mode: str) -> Any:
    def fill(out: Any, self: Any, padding: Any) -> None:
        if min(padding, default=0) < 0:  # what is cut off is no source of the frame
            array = self
            for axis, places in _maps(mode, self.shape, padding).items():
                array = np.take(array, places, axis=axis)
            out[...] = array
            return
        befores = [0] * self.ndim
        for place in range(len(padding) // 2):
            befores[self.ndim - 1 - place] = padding[2 * place]
        out[tuple(map(slice, befores, map(int.__add__, befores, self.shape)))] = self
        for axis, places in _maps(mode, self.shape, padding).items():
            before, extent = befores[axis], self.shape[axis]
            lines = out if axis == 0 else np.moveaxis(out, axis, 0)
            for at in (*range(before), *range(before + extent, len(places))):
                lines[at] = lines[before + places[at]]

    return fill


def _backward(mode: str) -> Any:
    def fill(out: Any, grad: Any, self: Any, padding: Any) -> None:
        array = grad
        for axis, places in _maps(mode, self.shape, padding).items():
            shape = (*array.shape[:axis], self.shape[axis], *array.shape[axis + 1 :])
            summed = np.zeros(shape, array.dtype)
            combine_at(np.add, np.moveaxis(summed, axis, 0), places, np.moveaxis(array, axis, 0))
            array = summed
        out[...] = array

    return fill


for _mode in ("reflection", "replication"):
    kernel(*(f"{_mode}_pad{dims}d" for dims in (1, 2, 3)), upcast=False)(_forward(_mode))
    kernel(*(f"{_mode}_pad{dims}d_backward" for dims in (1, 2, 3)))(_backward(_mode))
