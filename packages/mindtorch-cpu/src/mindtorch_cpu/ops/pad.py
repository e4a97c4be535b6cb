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


def _frame(padding: Any, ndim: int) -> dict[int, tuple[int, int]]:
    """Return how many positions there are before and behind, by dimension."""
    return {ndim - 1 - place: (padding[2 * place], padding[2 * place + 1]) for place in range(len(padding) // 2)}


def _forward(mode: str) -> Any:
    def fill(out: Any, self: Any, padding: Any) -> None:
        if min(padding, default=0) < 0:  # what is cut off is no source of the frame
            array = self
            for axis, places in _maps(mode, self.shape, padding).items():
                array = np.take(array, places, axis=axis)
            out[...] = array
            return
        frame = _frame(padding, self.ndim)
        starts = [frame.get(axis, (0, 0))[0] for axis in range(self.ndim)]
        out[tuple(slice(start, start + extent) for start, extent in zip(starts, self.shape, strict=True))] = self
        for axis, (before, behind) in frame.items():
            lines = out if axis == 0 else np.moveaxis(out, axis, 0)
            end = before + self.shape[axis]
            if mode == "replication":
                lines[:before], lines[end:] = lines[before], lines[end - 1]
            else:
                lines[:before] = lines[before + 1 : 2 * before + 1][::-1]
                lines[end:] = lines[end - 1 - behind : end - 1][::-1]

    return fill


def _summed(mode: str, lines: Any, extent: int, before: int, behind: int) -> Any:
    """Return what lines of a padded gradient add up to, in the order in which they lie."""
    if mode == "replication":
        if extent == 1:
            return np.add.accumulate(lines, axis=0)[-1:]
        end = before + extent
        first, last = np.add.accumulate(lines[: before + 1], axis=0), np.add.accumulate(lines[end - 1 :], axis=0)
        return np.concatenate((first[-1:], lines[before + 1 : end - 1], last[-1:]))
    found = np.array(lines[before : before + extent])
    found[1 : before + 1] += lines[:before][::-1]
    found[extent - 1 - behind : extent - 1] += lines[before + extent :][::-1]
    return found


def _backward(mode: str) -> Any:
    def fill(out: Any, grad: Any, self: Any, padding: Any) -> None:
        array = grad
        if min(padding, default=0) < 0:
            for axis, places in _maps(mode, self.shape, padding).items():
                shape = (*array.shape[:axis], self.shape[axis], *array.shape[axis + 1 :])
                summed = np.zeros(shape, array.dtype)
                combine_at(np.add, np.moveaxis(summed, axis, 0), places, np.moveaxis(array, axis, 0))
                array = summed
        else:
            for axis, (before, behind) in _frame(padding, self.ndim).items():
                lines = _summed(mode, np.moveaxis(array, axis, 0), self.shape[axis], before, behind)
                array = np.moveaxis(lines, 0, axis)
        out[...] = array

    return fill


for _mode in ("reflection", "replication"):
    kernel(*(f"{_mode}_pad{dims}d" for dims in (1, 2, 3)), upcast=False)(_forward(_mode))
    kernel(*(f"{_mode}_pad{dims}d_backward" for dims in (1, 2, 3)))(_backward(_mode))
