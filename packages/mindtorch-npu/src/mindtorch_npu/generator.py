"""The device's random stream: a seed and an offset, which every operator that draws moves on."""

from __future__ import annotations

import threading

from mindtorch_npu.acl.recording import recorded
from mindtorch_npu.device import current_device

INITIAL_SEED = 67280421310721
STEP = 4
"""Offsets are multiples of this."""


class NpuGenerator:
    """Where one device's random stream is."""

    def __init__(self, device: int) -> None:
        self.device_index = device
        self._seed = INITIAL_SEED
        self._offset = 0
        self._lock = threading.Lock()

    def manual_seed(self, seed: int) -> NpuGenerator:
        """Start the stream of `seed` and return the generator."""
        with self._lock:
            self._seed, self._offset = seed % 2**64, 0
        return self

    def initial_seed(self) -> int:
        """Return the seed of the current stream."""
        return self._seed

    def draw(self, count: int) -> tuple[int, int]:
        """Return seed and offset for `count` numbers and move on past them.

        Raises RuntimeError while a graph is recorded: it would repeat the same numbers.
        """
        if recorded:
            raise RuntimeError("npu: random numbers cannot be recorded in a graph, every replay would repeat the same")
        with self._lock:
            offset = self._offset
            self._offset += (count + STEP - 1) // STEP * STEP
        return self._signed(self._seed), offset

    @staticmethod
    def _signed(seed: int) -> int:
        return seed - 2**64 if seed >= 2**63 else seed

    def state(self) -> bytes:
        """Return seed and offset as 16 bytes."""
        with self._lock:
            return self._seed.to_bytes(8, "little") + self._offset.to_bytes(8, "little")

    def set_state(self, state: bytes) -> None:
        """Continue from what `state` returned. Raises RuntimeError for another length."""
        if len(state) != 16:
            raise RuntimeError(f"RNG state is wrong size: 16 bytes expected, {len(state)} given")
        with self._lock:
            self._seed, self._offset = (int.from_bytes(state[i : i + 8], "little") for i in (0, 8))


_generators: dict[int, NpuGenerator] = {}


def default_generator(device: int | None = None) -> NpuGenerator:
    """Return a device's generator, by default the current device's."""
    index = current_device() if device is None else device
    return _generators.setdefault(index, NpuGenerator(index))
