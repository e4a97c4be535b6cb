"""Running a group of ops block by block: every op on one block, then every op on the next.

A block is small enough to stay in the processor's cache, so what one op writes the next one reads from there. Values
that only the group uses live in a few block-sized buffers, which are taken again as soon as a value is used up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..plan import Plan

BLOCK = 65536
"""Elements per block. Larger ones leave the cache, smaller ones cost more calls."""


class Step:
    """One op of a group: its plan, the call's values, and where among the group's values its operands and result are."""

    __slots__ = ("flat", "operands", "out", "plan")

    def __init__(self, plan: Plan, flat: tuple[Any, ...], operands: Sequence[tuple[int, int]], out: int) -> None:
        self.plan = plan
        self.flat = flat
        self.operands = operands
        self.out = out

    def constants(self) -> tuple[list[Any], Any]:
        """Return the kernel's arguments without the operands, and what is left to prepare per block (casts) or None."""
        plan = self.plan
        arguments = plan.values.copy()
        if plan.prepare is None or plan.casts:
            return arguments, plan.prepare
        plan.prepare(plan, arguments, self.flat)
        return arguments, None


def block_dim(shape: Sequence[int], cut: int) -> tuple[int, int]:
    """Return which dimension is cut into pieces and how many extents of it a block has; those before it go one by
    one."""
    rest = math.prod(shape)
    dim = 0
    for dim in range(cut):
        rest //= shape[dim]
        if rest <= BLOCK:
            break
    extent = shape[dim]
    pieces = -(-extent // max(1, BLOCK // max(1, rest)))
    return dim, -(-extent // pieces)


def blocks(shape: Sequence[int], dim: int, size: int) -> Iterator[tuple[slice, ...]]:
    """Yield the blocks as slices of the dimensions up to `dim`."""
    for place in itertools.product(*map(range, shape[:dim])):
        before = tuple(slice(index, index + 1) for index in place)
        for start in range(0, shape[dim], size):
            yield (*before, slice(start, min(start + size, shape[dim])))


class Cutter:
    """Cuts an array that broadcasts to the group's shape."""

    __slots__ = ("array", "dims", "whole")

    def __init__(self, array: Any, ndim: int, dim: int) -> None:
        self.array = array
        skipped = ndim - array.ndim
        self.dims = [place if array.shape[place - skipped] != 1 else None for place in range(skipped, dim + 1)]
        self.whole = all(place is None for place in self.dims)

    def cut(self, block: tuple[slice, ...]) -> Any:
        """Return the part of the array that belongs to the block."""
        if self.whole:
            return self.array
        return self.array[tuple(slice(None) if place is None else block[place] for place in self.dims)]


class Buffers:
    """Block-sized memory for the values that are never made in full."""

    def __init__(self, steps: Sequence[Step], inner: dict[int, Any], dim: int, size: int) -> None:
        self._dim = dim
        self._specs = inner
        self._memory: dict[int, Any] = {}
        self._views: dict[tuple[int, ...], dict[int, Any]] = {}
        last = {place: number for number, step in enumerate(steps) for place in _used(step) if place in inner}
        free: list[Any] = []
        for number, step in enumerate(steps):
            if step.out in inner and step.out not in self._memory:
                spec = inner[step.out]
                needed = size * math.prod(spec.shape[dim + 1 :]) * spec.itemsize
                fitting = self._written_over(step, number, last)
                if fitting is not None:
                    self._memory[step.out] = fitting
                    continue
                fitting = next((one for one in free if one.nbytes >= needed), None)
                if fitting is None:
                    fitting = np.empty(needed, np.uint8)
                else:
                    free = [one for one in free if one is not fitting]
                self._memory[step.out] = fitting
            free.extend(self._memory[place] for place in set(_used(step)) if last.get(place) == number)

    def _written_over(self, step: Step, number: int, last: dict[int, int]) -> Any:
        """Return the memory of an operand that the step uses up and may write its result over, None without one."""
        spec = self._specs[step.out]
        if not step.plan.row.meta.aliases_ok:
            return None
        for _, place in step.operands:
            other = self._specs.get(place)
            if (
                other is not None
                and last.get(place) == number
                and other.dtype is spec.dtype
                and other.shape == spec.shape
            ):
                return self._memory[place]
        return None

    def views(self, block: tuple[slice, ...]) -> dict[int, Any]:
        """Return the arrays of all inner values for a block, by place."""
        extents = tuple(part.stop - part.start for part in block)
        found = self._views.get(extents)
        if found is None:
            found = self._views[extents] = {
                place: _laid(memory, self._specs[place], extents) for place, memory in self._memory.items()
            }
        return found


def _used(step: Step) -> list[int]:
    return [*(place for _, place in step.operands), step.out]


def _laid(memory: Any, spec: Any, extents: tuple[int, ...]) -> Any:
    return np.ndarray((*extents, *spec.shape[len(extents) :]), spec.np_dtype, memory)


class BlockRun:
    """Runs the steps of a group. `step` is the number of the one that runs.

    `arrays` has the array of every value that exists in full, None for inner ones, whose specs are in `inner`; `shape`
    is the group's, whose first `cut` dimensions may be cut.
    """

    def __init__(
        self, steps: Sequence[Step], arrays: list[Any], inner: dict[int, Any], shape: Sequence[int], cut: int
    ) -> None:
        self.step = 0
        self._steps = steps
        self._shape = shape
        self._dim, self._size = block_dim(shape, cut)
        self._buffers = Buffers(steps, inner, self._dim, self._size)
        self._cutters = [
            (place, Cutter(array, len(shape), self._dim)) for place, array in enumerate(arrays) if array is not None
        ]
        self._count = len(arrays)

    def run(self) -> None:
        """Run every step on every block."""
        steps = [
            (number, step.plan, step.plan.kernel, *step.constants(), step.operands, step.out, step.flat)
            for number, step in enumerate(self._steps)
        ]
        values: list[Any] = [None] * self._count
        for block in blocks(self._shape, self._dim, self._size):
            for place, cutter in self._cutters:
                values[place] = cutter.cut(block)
            for place, view in self._buffers.views(block).items():
                values[place] = view
            for self.step, plan, kernel, constants, prepare, operands, out, flat in steps:
                arguments = constants.copy()
                for index, place in operands:
                    arguments[index] = values[place]
                if prepare is not None:
                    prepare(plan, arguments, flat)
                kernel(values[out], *arguments)
