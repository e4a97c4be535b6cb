"""Makes input tensors with the same values on every library and device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

EXTREMES = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, -1e-30, 3e4, -3e4)
"""What float samples of pointwise ops must survive; within float16's range but for the tiny ones."""


class Maker:
    """Makes tensors of one library, dtype and device from a seed: same seed, same calls, same values."""

    def __init__(self, lib: ModuleType, dtype: str = "float32", device: str = "cpu", seed: int = 0) -> None:
        self.lib = lib
        self.dtype = dtype
        self.device = device
        self._random = np.random.default_rng(seed)

    def type(self, name: str | None = None) -> Any:
        """Return the library's dtype object of that name; by default the one this maker makes."""
        return getattr(self.lib, name or self.dtype)

    @property
    def is_floating(self) -> bool:
        """True when the maker's dtype holds fractions."""
        return "float" in self.dtype

    def __call__(self, *shape: int, low: float = -3.0, high: float = 3.0, dtype: str | None = None) -> Any:
        """Return a contiguous tensor of random values in [low, high)."""
        values = self._random.uniform(low, high, shape)
        return self.of(values, dtype)

    def of(self, values: Any, dtype: str | None = None) -> Any:
        """Return a tensor of given values."""
        wanted = dtype or self.dtype
        array = np.asarray(values)
        if wanted == "bool":
            array = array > 0
        elif "float" in wanted or "complex" in wanted:
            array = array.astype(np.complex64 if "complex" in wanted else np.float32)
        else:
            array = np.trunc(array).astype(np.int64)
            array = np.abs(array) if wanted.startswith("u") else array
        made = self.lib.from_numpy(array if array.ndim else array.reshape(1)).to(self.type(wanted))
        made = made if array.ndim else made.reshape(())
        return made.to(self.device) if self.device != "cpu" else made

    def transposed(self, *shape: int) -> Any:
        """Return a tensor of that shape whose last two dimensions are swapped in memory."""
        return self(*shape[:-2], shape[-1], shape[-2]).transpose(-1, -2)

    def stepped(self, *shape: int) -> Any:
        """Return a tensor of that shape that holds every other element of a larger one, from an offset."""
        return self(*shape[:-1], 2 * shape[-1] + 1)[..., 1::2]

    def expanded(self, *shape: int) -> Any:
        """Return a tensor of that shape whose first dimension has stride zero."""
        return self(1, *shape[1:]).expand(*shape)

    def extremes(self) -> Any:
        """Return zeros of both signs, infinities, nan, tiny and large values; for integers, small and large ones."""
        return self.of(EXTREMES if self.is_floating else (0, 1, -1, 7, -7, 100, -100))

    def indices(self, *shape: int, below: int) -> Any:
        """Return int64 indices in [0, below)."""
        return self.of(self._random.integers(0, below, shape), "int64")

    def mask(self, *shape: int) -> Any:
        """Return a bool tensor."""
        return self(*shape, dtype="bool")

    def layouts(self, *shape: int) -> Sequence[Any]:
        """Return tensors of one shape in every memory layout a kernel must take: all strided forms."""
        made = [self(*shape), self.stepped(*shape)]
        if len(shape) > 1:
            made += [self.transposed(*shape), self.expanded(*shape)]
        return made
