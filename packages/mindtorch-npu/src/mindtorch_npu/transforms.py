"""What Fourier transforms keep from one call to the next: the matrices of the lengths that were last asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class PlanCache:
    """`torch.npu.backends.fft_plan_cache`: the most recent matrices, `max_size` of them at most."""

    def __init__(self, max_size: int = 50) -> None:
        self._most = max_size
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return what is kept under a key, making it when it is not there."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        made = make()
        with self._lock:
            self._kept[key] = made
            self._shrink()
        return made

    def _shrink(self) -> None:
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    @property
    def size(self) -> int:
        """How many are kept."""
        return len(self._kept)

    @size.setter
    def size(self, value: int) -> None:
        raise RuntimeError(".size is a read-only property showing the number of plans currently in the cache.")

    @property
    def max_size(self) -> int:
        """How many are kept at most; fewer than there are lets the oldest go."""
        return self._most

    @max_size.setter
    def max_size(self, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise RuntimeError(f"max_size must be a number that is not negative, but got {value!r}")
        with self._lock:
            self._most = value
            self._shrink()

    def clear(self) -> None:
        """Keep none."""
        with self._lock:
            self._kept.clear()


fft_plan_cache = PlanCache()
"""Of every device: the matrices are kept by the host."""

__all__ = ["PlanCache", "fft_plan_cache"]
