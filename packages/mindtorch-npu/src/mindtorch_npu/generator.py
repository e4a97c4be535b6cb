"""The device's random stream: a seed and an offset, which every operator that draws moves on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl.recording import recorded, recording_of
from mindtorch_npu.device import current_device
from mindtorch_npu.stream import current_stream

INITIAL_SEED = 67280421310721
STEP = 4
"""Offsets are multiples of this."""


SEED_IS_FIXED = (
    "NPUGeneratorImpl::set_current_seed can be called during stream capture only if new seed is the same as the "
    "original seed."
)


class RecordedDraws:
    """What a graph draws from one generator: `offset` is how far it is since its beginning.

    The operators read seed and first offset from the device's memory, which `fill` writes before each replay.
    """

    def __init__(self, generator: NpuGenerator) -> None:
        self.generator = generator
        self.offset = 0
        self.places: Any = None
        self.fill: Callable[[int, int], None] | None = None

    def draw(self, count: int) -> int:
        """Return where so many numbers begin, and move on past them."""
        offset = self.offset
        self.offset += _rounded(count)
        return offset

    def begin(self) -> None:
        """Let a replay that comes next begin where the generator is, and the generator go on behind it."""
        if self.fill is not None:
            self.fill(*self.generator.advance(self.offset))


def _rounded(count: int) -> int:
    return (count + STEP - 1) // STEP * STEP


def _recording(device: int) -> Any:
    """Return the graph that the device's current stream is recorded for, None where it is not."""
    if not recorded:
        return None
    stream = current_stream(device).npu_stream
    graph = recorded.get(stream)
    if graph is None:
        handle = recording_of(stream, runtime.on(device))
        graph = next((one for one in recorded.values() if handle and one.recording_handle == handle), None)
    return graph


class NpuGenerator:
    """Where one device's random stream is."""

    def __init__(self, device: int, seed: int = INITIAL_SEED) -> None:
        self.device_index = device
        self._seed = seed % 2**64
        self._offset = 0

    def manual_seed(self, seed: int) -> NpuGenerator:
        """Start the stream of `seed` and return the generator. RuntimeError for another seed while a graph is recorded."""
        draws = self.recorded_draws()
        if draws is not None:
            self._recorded_from(draws, seed % 2**64, 0)
            return self
        with _defaults.lock:
            self._seed, self._offset = seed % 2**64, 0
        return self

    def initial_seed(self) -> int:
        """Return the seed of the current stream."""
        return self._seed

    def draw(self, count: int) -> tuple[int, int]:
        """Return seed and offset for `count` numbers and move on past them.

        Raises RuntimeError while a graph is recorded: it would repeat the same numbers.
        """
        if self.recorded_draws() is not None:
            raise RuntimeError(
                "npu: these random numbers cannot be recorded in a graph, every replay would repeat the same: the "
                "operator reads no seed from the device's memory"
            )
        return self.advance(_rounded(count))

    def advance(self, count: int) -> tuple[int, int]:
        """Return seed and offset and move on by `count`, a multiple of `STEP`."""
        with _defaults.lock:
            offset = self._offset
            self._offset += count
        return self._signed(self._seed), offset

    def recorded_draws(self) -> RecordedDraws | None:
        """Return what the graph that is being recorded on the current stream draws, None where there is none."""
        graph = _recording(self.device_index)
        if graph is None:
            return None
        found: RecordedDraws = graph.draws.setdefault(self, RecordedDraws(self))
        return found

    def _recorded_from(self, draws: RecordedDraws, seed: int, offset: int) -> None:
        if seed != self._seed:
            raise RuntimeError(SEED_IS_FIXED)
        draws.offset = offset

    @staticmethod
    def _signed(seed: int) -> int:
        return seed - 2**64 if seed >= 2**63 else seed

    def state(self) -> bytes:
        """Return seed and offset as 16 bytes."""
        draws = self.recorded_draws()
        with _defaults.lock:
            offset = self._offset if draws is None else draws.offset
            return self._seed.to_bytes(8, "little") + offset.to_bytes(8, "little")

    def set_state(self, state: bytes) -> None:
        """Continue from what `state` returned. Raises RuntimeError for another length."""
        if len(state) != 16:
            raise RuntimeError(f"RNG state is wrong size: 16 bytes expected, {len(state)} given")
        seed, offset = (int.from_bytes(state[i : i + 8], "little") for i in (0, 8))
        draws = self.recorded_draws()
        if draws is not None:
            self._recorded_from(draws, seed, offset)
            return
        with _defaults.lock:
            self._seed, self._offset = seed, offset


class _DefaultGenerators:
    """The devices' generators, made when they are first asked for, and the seed that each of them starts from.

    `lock` guards every generator's seed and offset, too. A forked process gets a new one: another thread may have held it.
    """

    def __init__(self) -> None:
        self.renew_lock()
        self.made: dict[int, NpuGenerator] = {}
        self.seed = INITIAL_SEED

    def renew_lock(self) -> None:
        """Let nobody hold the lock."""
        self.lock = threading.RLock()


_defaults = _DefaultGenerators()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_defaults.renew_lock)


def default_generator(device: int | None = None) -> NpuGenerator:
    """Return a device's generator, by default the current device's."""
    index = current_device() if device is None else device
    with _defaults.lock:
        return _defaults.made.setdefault(index, NpuGenerator(index, _defaults.seed))


def seed_all(seed: int) -> None:
    """Start the streams of all devices of `seed`, also of those not used yet. Needs no device, so a process that has none,
    as a worker that loads data, may call it."""
    with _defaults.lock:
        _defaults.seed = seed
        for generator in _defaults.made.values():
            generator.manual_seed(seed)
