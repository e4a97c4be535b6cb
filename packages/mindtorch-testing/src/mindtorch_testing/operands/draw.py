"""Draws operands: dtypes, sizes, strides, memory that overlaps or lies at an odd address, and arguments beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import mindtorch as mt

EXTENTS = (0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70)
"""Sizes around the width of vectors, those that leave tails, and none."""

FLOATS = {"float32": 8, "float64": 3, "bfloat16": 2, "float16": 1}
INTEGERS = {"int64": 4, "int32": 2, "uint8": 1, "int8": 1, "int16": 1, "bool": 2}
OTHERS = {"complex64": 1, "complex128": 1}
LAYOUTS = {"dense": 8, "permuted": 3, "stepped": 3, "expanded": 2, "offset": 2, "overlapping": 1, "misaligned": 1}
MOST, MOST_LARGE = 3000, 150_000
SLACK = 3
"""Elements around a tensor in its storage, which nothing may write."""

SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-42)


class Operands:
    """Draws from one seed; what is drawn is kept in `made`, so that writes into it can be seen."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.made: list[Any] = []
        self.dtype = "float32"
        self.shape: tuple[int, ...] = ()
        self.special = True

    def begin(self) -> None:
        """Draw the shape and the dtype that most operands of a call have."""
        self.made = []
        self.special = True
        weights = FLOATS if self.chance(0.75) else {**FLOATS, **INTEGERS, **OTHERS}
        self.dtype = self.pick(weights)
        self.shape = self.draw_shape()

    def tame(self) -> Operands:
        """Keep values finite and near one in what is drawn from here on: of others the order of operations decides."""
        self.special = False
        return self

    # --- choices

    def chance(self, part: float) -> bool:
        """Return True in that part of the cases."""
        return bool(self.random.random() < part)

    def pick(self, choices: Any) -> Any:
        """Return one of a sequence, or of a dictionary's keys by their weights."""
        if isinstance(choices, dict):
            weights = np.fromiter(choices.values(), float)
            return list(choices)[int(self.random.choice(len(weights), p=weights / weights.sum()))]
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return int(self.random.integers(low, max(low, high) + 1))

    def number(self) -> Any:
        """Return a scalar argument: a float, an integer or a truth value, at times a special one."""
        kind = self.pick({"float": 6, "int": 3, "bool": 1, "special": 1})
        if kind == "float":
            return round(float(self.random.standard_normal() * 2), 3)
        if kind == "int":
            return self.whole(-3, 3)
        return self.chance(0.5) if kind == "bool" else self.pick(SPECIAL)

    def dim(self, ndim: int) -> int:
        """Return a dimension, at times one that does not exist."""
        if self.chance(0.03):
            return ndim + 1
        return self.whole(-ndim, ndim - 1) if ndim else self.whole(-1, 0)

    def dims(self, ndim: int) -> list[int]:
        """Return some different dimensions."""
        count = self.whole(0, ndim)
        return [int(dim) for dim in self.random.permutation(ndim)[:count]]

    # --- shapes

    def draw_shape(self, ndim: int | None = None) -> tuple[int, ...]:
        """Return a shape of few elements, rarely one of many."""
        most = MOST_LARGE if self.chance(0.01) else MOST
        if ndim is None:
            ndim = self.pick({0: 1, 1: 4, 2: 5, 3: 4, 4: 2, 5: 1})
        shape = [self.pick(EXTENTS) for _ in range(ndim)]
        if most == MOST_LARGE and shape:
            shape[self.whole(0, ndim - 1)] *= 37
        while math.prod(shape) > most:
            place = int(np.argmax(shape))
            shape[place] = max(1, shape[place] // 2)
        if shape and not self.chance(0.1):
            shape = [extent or 2 for extent in shape]
        return tuple(shape)

    def broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return a shape that spreads to this one, at times one that does not fit."""
        if self.chance(0.6):
            return tuple(shape)
        made = [1 if self.chance(0.4) else extent for extent in shape]
        if self.chance(0.05) and made:
            made[self.whole(0, len(made) - 1)] += 1
        return tuple(made[self.whole(0, len(made)) if self.chance(0.3) else 0 :])

    # --- tensors

    def tensor(self, shape: Sequence[int] | None = None, dtype: str | None = None, unit: bool = False) -> Any:
        """Return a tensor of the call's shape and dtype, or of these; `unit` keeps values between 0 and 1."""
        shape = tuple(self.shape if shape is None else shape)
        if dtype is None:
            dtype = self.pick({**FLOATS, **INTEGERS, **OTHERS}) if self.chance(0.06) else self.dtype
        return self.lay_out(shape, dtype, lambda count: self._values(count, dtype, unit))

    def indices(self, shape: Sequence[int], size: int, dtype: str = "int64") -> Any:
        """Return indices below `size`, rarely one that is not, or negative ones, or another dtype."""
        dtype = self.pick(["int32", "uint8", "float32", "bool"]) if self.chance(0.08) else dtype
        low, high = self.pick({(0, size): 12, (-size, size): 1, (0, size + 2): 1})
        return self.lay_out(tuple(shape), dtype, lambda count: self.random.integers(low, max(high, low + 1), count))

    def lay_out(self, shape: tuple[int, ...], dtype: str, values: Any) -> Any:
        """Return a tensor of these values in memory of a random layout."""
        layout = self.pick(LAYOUTS)
        ndim = len(shape)
        if layout == "misaligned":
            return self._misaligned(shape, dtype, values)
        order = [int(d) for d in self.random.permutation(ndim)] if layout == "permuted" else list(range(ndim))
        extents = [shape[dim] for dim in order]
        steps = [self.whole(1, 3) if layout == "stepped" else 1 for _ in extents]
        if layout == "expanded":
            spread = [self.chance(0.5) for _ in extents]
            extents = [1 if one else extent for one, extent in zip(spread, extents, strict=True)]
        strides: list[int] = []
        distance = 1
        for extent, step in zip(reversed(extents), reversed(steps), strict=True):
            strides.insert(0, distance * step)
            distance *= max(extent, 1) * step
        if layout == "overlapping" and ndim:
            strides = [self.whole(0, stride) for stride in strides]
        if layout == "expanded":
            strides = [0 if one else stride for one, stride in zip(spread, strides, strict=True)]
        start = 0 if layout == "dense" and self.chance(0.7) else SLACK
        base = self._base(values(distance + 2 * SLACK), dtype)
        placed = [strides[order.index(dim)] for dim in range(ndim)]
        return base.as_strided(shape, placed, start)

    def _base(self, values: np.ndarray, dtype: str) -> Any:
        numpy = "float32" if dtype == "bfloat16" else dtype
        base = mt.from_numpy(np.ascontiguousarray(values.astype(numpy)))
        base = base.to(mt.bfloat16) if dtype == "bfloat16" else base
        self.made.append(base)
        return base

    def _misaligned(self, shape: tuple[int, ...], dtype: str, values: Any) -> Any:
        count = math.prod(shape)
        whole = self._base(values(count + 1), dtype)
        if count == 0 or dtype == "bool":
            return whole[:count].reshape(shape)
        raw = b"\0" + whole.view(mt.uint8).numpy().tobytes()
        flat = mt.frombuffer(bytearray(raw), dtype=getattr(mt, dtype), offset=1, count=count)
        self.made.append(flat)
        return flat.reshape(shape)

    def _values(self, count: int, dtype: str, unit: bool) -> np.ndarray:
        if unit:
            return self.random.random(count)
        values = self.random.standard_normal(count) * self.pick([1.0, 3.0, 30.0] if self.special else [1.0])
        if dtype == "bool":
            return values > 0
        if dtype in INTEGERS:
            return np.clip(np.abs(values) if dtype == "uint8" else values, -100, 100)
        if self.chance(0.12) and self.special:
            places = self.random.integers(count, size=max(1, count // 8))
            values[places] = self.random.choice(SPECIAL, len(places))
        return values + 1j * self.random.standard_normal(count) if dtype in OTHERS else values
