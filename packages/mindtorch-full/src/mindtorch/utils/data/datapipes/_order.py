"""The random order in which pipes give samples."""

from __future__ import annotations

import random
from typing import Any, TypeVar

import mindtorch as torch

_Self = TypeVar("_Self", bound="RandomOrder")


class RandomOrder:
    """Gives a pipe the settings of its order, and the generator that the order comes from."""

    _enabled: bool
    _seed: int | None
    _rng: random.Random

    def _keep_order(self) -> None:
        """Begin with an order that is random, and not set."""
        self._enabled = True
        self._seed = None
        self._rng = random.Random()

    def set_shuffle(self: _Self, shuffle: bool = True) -> _Self:
        """Whether to change the order at all."""
        self._enabled = shuffle
        return self

    def set_seed(self: _Self, seed: int) -> _Self:
        """Fix the order of the next iterator."""
        self._seed = seed
        return self

    def _seed_order(self) -> bool:
        """Seed the order of the iterator that begins, by what was set, else from the random stream; False where it stays."""
        if not self._enabled:
            return False
        seed: Any = torch.empty((), dtype=torch.int64).random_().item() if self._seed is None else self._seed
        self._rng.seed(int(seed))
        self._seed = None
        return True
