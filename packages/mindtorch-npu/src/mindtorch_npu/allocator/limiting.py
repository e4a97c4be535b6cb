"""How much of a device's memory this process may take, and the error of a request that there is no room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_npu.allocator import oom
from mindtorch_npu.allocator.blocks import Block
from mindtorch_npu.allocator.config import Config
from mindtorch_npu.allocator.driver import Driver
from mindtorch_npu.allocator.history import History
from mindtorch_npu.allocator.statistics import FlatStatistics, Statistics

process_fractions: dict[int, float] = {}
"""Device to the share of its memory that this process may take, where it was set; else the configuration says."""


class Limiting:
    """The part of the caching allocator that keeps to the process's share of the device's memory."""

    device_id: int
    driver: Driver
    config: Config
    stats: Statistics
    history: History
    observers: list[Callable[[int, int, int, int], None]]
    _stats: FlatStatistics
    _active: dict[int, Block]
    _total: int

    @property
    def _reserved(self) -> int:
        return self._stats["reserved_bytes.all.current"]

    @property
    def _allowed(self) -> int | None:
        """The bytes that this process may take; None without a limit."""
        fraction = self.fraction()
        return None if fraction >= 1.0 else int(fraction * self._device_total())

    def _device_total(self) -> int:
        if not self._total:
            self._total = self._mem_get_info()[1]
        return self._total

    def _mem_get_info(self) -> tuple[int, int]:
        """Return free and total bytes of the device; a place to put other numbers in."""
        free, total = self.driver.mem_get_info()
        return free, total

    def _enforce_memory_fraction(self, size: int) -> None:
        """Raise the out-of-memory error when `size` more bytes from the device exceed the process's share."""
        allowed = self._allowed
        if allowed is not None and self._reserved + size > allowed:
            raise self._no_room(size)

    def _within_fraction(self, size: int) -> bool:
        try:
            self._enforce_memory_fraction(size)
        except oom.OutOfMemoryError:
            return False  # as if the device had none left: cached memory is given back first
        return True

    def set_fraction(self, fraction: float) -> None:
        """Let this process take no more than a share of the device's memory; 1.0 takes the limit away."""
        process_fractions[self.device_id] = fraction
        self._total = 0

    def fraction(self) -> float:
        """Return the share that this process may take, 1.0 without a limit."""
        return process_fractions.get(self.device_id, self.config.per_process_memory_fraction)

    def _no_room(self, size: int) -> RuntimeError:
        free, total = self._mem_get_info()
        allocated = self._stats["allocated_bytes.all.current"]
        private = sum(b.size for b in self._active.values() if b.allocated and b.pool.owner != (0, 0))
        return oom.out_of_memory(self.device_id, size, total, free, self._allowed, allocated, self._reserved, private)

    def _out_of_memory(self, segment: int, size: int, stream: int, frames: list[dict[str, Any]]) -> RuntimeError:
        self.stats.counters["num_ooms"] += 1
        free, total = self._mem_get_info()
        self.history.add("oom", free, size, stream, frames, (0, 0))
        allowed = self._allowed
        for observe in list(self.observers):
            observe(self.device_id, segment, allowed if allowed is not None else total, free)
        return self._no_room(segment)
