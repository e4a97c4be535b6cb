"""Joining, repeating and reordering."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..many_dimensions import combine_at
from ..register import kernel


@kernel("cat", upcast=False)
def cat(out: Any, tensors: Any, dim: int) -> None:
    """Tensors one after the other; empty vectors are skipped."""
    kept = [one for one in tensors if not (one.ndim == 1 and one.size == 0)]
    if kept:
        np.concatenate(kept, axis=dim, out=out)


@kernel("repeat", upcast=False)
def repeat(out: Any, self: Any, repeats: Any) -> None:
    """The tensor tiled."""
    if out.size:
        out[...] = np.tile(self, tuple(repeats))


@kernel("flip", upcast=False)
def flip(out: Any, self: Any, dims: Any) -> None:
    """Dimensions in reverse."""
    out[...] = np.flip(self, dims)


@kernel("roll", upcast=False)
def roll(out: Any, self: Any, shifts: Any, dims: Any) -> None:
    """Elements moved around."""
    if dims or not self.size:
        out[...] = np.roll(self, shifts, dims) if dims else self
        return
    line, shift = self.reshape(-1), shifts[0] % self.size
    to = out.reshape(-1) if out.flags.c_contiguous else np.empty(out.size, out.dtype)
    to[shift:], to[:shift] = line[: line.size - shift], line[line.size - shift :]
    if not out.flags.c_contiguous:
        out[...] = to.reshape(out.shape)


@kernel("tril", upcast=False)
def tril(out: Any, self: Any, diagonal: int) -> None:
    """The lower triangle."""
    _triangle(out, self, _below(self, diagonal))


@kernel("triu", upcast=False)
def triu(out: Any, self: Any, diagonal: int) -> None:
    """The upper triangle."""
    _triangle(out, self, ~_below(self, diagonal - 1))


def _below(self: Any, diagonal: int) -> Any:
    """Return where the elements up to a diagonal are; one far outside is the nearest that is outside."""
    rows, columns = self.shape[-2:]
    return np.tri(rows, columns, min(max(diagonal, -rows - 1), columns + 1), dtype=bool)


def _triangle(out: Any, self: Any, kept: Any) -> None:
    if out is not self:
        out[...] = self
    np.copyto(out, np.zeros((), out.dtype), where=~kept)


@kernel("select_backward", upcast=False)
def select_backward(out: Any, grad: Any, input_sizes: Any, dim: int, index: int) -> None:
    """The gradient at one position of zeros."""
    out.fill(0)
    out[(*[slice(None)] * (dim % out.ndim), index)] = grad


@kernel("slice_backward", upcast=False)
def slice_backward(out: Any, grad: Any, input_sizes: Any, dim: int, start: int, end: int, step: int) -> None:
    """The gradient in a range of zeros."""
    out.fill(0)
    dim %= out.ndim
    begin, stop, _ = slice(start, end).indices(out.shape[dim])
    out[(*[slice(None)] * dim, slice(begin, stop, step))] = grad


@kernel("as_strided_backward", upcast=False)
def as_strided_backward(
    out: Any, grad: Any, input_sizes: Any, input_strides: Any, size: Any, stride: Any, storage_offset: int
) -> None:
    """The gradient scattered back, added where the view overlapped."""
    offsets = _elements(size, stride) + storage_offset
    places = _elements(input_sizes, input_strides)
    if offsets.size == 0 or places.size == 0:
        out.fill(0)
        return
    low = min(int(offsets.min()), int(places.min()))
    top = max(int(offsets.max()), int(places.max())) + 1 - low
    memory = np.zeros(top, grad.dtype if grad.dtype.kind in "fc" else np.float32)
    combine_at(np.add, memory, (offsets - low).reshape(-1), grad.reshape(-1))
    count = np.zeros(top, np.int64)
    combine_at(np.add, count, (places - low).reshape(-1), 1)
    out[...] = (memory / np.maximum(count, 1))[places - low]


def _elements(size: Any, stride: Any) -> Any:
    """Return where in memory each element of a geometry lies."""
    found = np.zeros(tuple(size), np.int64)
    for axis, step in enumerate(stride):
        shape = [1] * len(size)
        shape[axis] = -1
        found = found + np.arange(size[axis], dtype=np.int64).reshape(shape) * step
    return found


@kernel("unfold_backward", upcast=False)
def unfold_backward(out: Any, grad: Any, input_sizes: Any, dim: int, size: int, step: int) -> None:
    """Windows' gradients added up."""
    out.fill(0)
    if out.ndim == 0:
        out[...] = grad.sum()
        return
    dim %= out.ndim
    line, windows = np.moveaxis(out, dim, -1), np.moveaxis(grad, dim, -2)
    # As much of all windows at a time as does not overlap.
    for offset in range(0, size, step):
        part = windows[..., offset : offset + step]
        strides = (*line.strides[:-1], step * line.strides[-1], line.strides[-1])
        place = np.lib.stride_tricks.as_strided(line[..., offset:], part.shape, strides)
        place += part


@kernel("diagonal_backward", upcast=False)
def diagonal_backward(out: Any, grad: Any, input_sizes: Any, offset: int, dim1: int, dim2: int) -> None:
    """The gradient on a diagonal of zeros."""
    out.fill(0)
    moved = np.moveaxis(out, (dim1, dim2), (-2, -1))
    rows = np.arange(grad.shape[-1])
    first, second = (rows, rows + offset) if offset >= 0 else (rows - offset, rows)
    moved[..., first, second] = grad
