"""The Mersenne Twister that every draw comes from, as bulk 32- and 64-bit words, and its 5,056-byte state.

numpy's bit generator is the engine. `RandomState` is the way in because numpy has frozen its streams for good:
a full-range `randint` hands out the raw words, and costs little more than making them.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence

STATE_BYTES = 5056
"""Size of a serialized state, torch's `CPUGeneratorImplState`."""

_WORDS = 624
_HEAD = struct.Struct("<QiiQ")
"""What a state begins with: the seed, how many words are left, whether it was seeded, the next word. The words follow."""
_TAIL = struct.Struct("<dddi4xfI")
"""What it ends with: parts of the last pair of normal numbers, of which the second is left where it is valid."""
_END = STATE_BYTES - _TAIL.size
_BELOW_2_64 = 1 << 64
_BELOW_2_32 = 1 << 32
_MASK_32 = 0xFFFFFFFF
_UINT64 = np.dtype(np.uint64)
_UINT32 = np.dtype(np.uint32)
_LITTLE_UINT64 = np.dtype("<u8")
_MASK_64_TO_32 = np.uint64(_MASK_32)
# Up to this many 32-bit words, numpy's argument handling in `randint` costs more than splitting wide raw words.
_FEW = 512
_HIGH, _LOW = (1, 0) if sys.byteorder == "little" else (0, 1)


_ONES = (1,) * _WORDS


class _NoSeeds(ISeedSequence):  # type: ignore[misc]
    """Words for a bit generator that is seeded afterwards: numpy's own sequence of seeds costs more than all the rest.

    They are a tuple, as numpy takes them one by one, which from an array takes longer than all the rest, too.
    """

    def generate_state(self, n_words: int, dtype: Any = _UINT32) -> Any:
        return _ONES if n_words == _WORDS else (1,) * n_words


_NO_SEEDS: Any = _NoSeeds()


class Engine:
    """mt19937 seeded by its low 32 bits, with the cached half of the last Box-Muller pair.

    `source` is how compiled code finds the words, to draw from them in place. `normal_cache` is part of the state: a
    normal draw of few elements leaves it for the next such draw.
    """

    __slots__ = ("_bits", "_fresh", "_legacy", "_memory", "_randint", "_raw", "normal_cache", "seed", "source")

    seed: int
    normal_cache: float | None
    source: Any

    def __init__(self, seed: int) -> None:
        self._bits = np.random.MT19937(_NO_SEEDS)
        self._memory: Any = None
        self.source = self._bits.capsule
        self._legacy = np.random.RandomState(self._bits)
        self._randint = self._legacy.randint
        self._raw = self._bits.random_raw
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start the stream of `seed`, an int in [0, 2**64)."""
        self._legacy.seed(seed & _MASK_32)
        self.seed = seed
        self.normal_cache = None
        self._fresh = True

    def word(self) -> int:
        """Draw one 32-bit word."""
        self._fresh = False
        return self._raw()

    def wide_word(self) -> int:
        """Draw one 64-bit word; the first 32-bit word is its high half."""
        self._fresh = False
        return self._raw() << 32 | self._raw()

    def words(self, count: int) -> Any:
        """Draw `count` 32-bit words into a new, writable uint32 array."""
        if count == 0:
            return np.empty(0, _UINT32)
        self._fresh = False
        if count <= _FEW:
            return self._raw(count).astype(_UINT32)
        return self._randint(0, _BELOW_2_32, count, _UINT32)

    def wide_words(self, count: int) -> Any:
        """Draw `count` 64-bit words into a new, writable uint64 array."""
        if count == 0:
            return np.empty(0, _UINT64)
        self._fresh = False
        if 2 * count > _FEW:
            return self._randint(0, _BELOW_2_64, count, _UINT64)
        pairs = self._raw(2 * count).astype(_UINT32)
        out = np.empty(2 * count, _UINT32)
        out[_HIGH::2] = pairs[0::2]
        out[_LOW::2] = pairs[1::2]
        return out.view(_UINT64)

    def _words(self) -> Any:
        """Return the words of numpy's engine and its position, where they lie."""
        if self._memory is None:
            address = self._bits.ctypes.state_address
            held: Any = (ctypes.c_uint32 * (_WORDS + 1)).from_address(address)
            memory = np.frombuffer(held, _UINT32)
            state: Any = self._legacy.get_state()
            if not (np.array_equal(memory[:_WORDS], state[1]) and memory[_WORDS] == state[2]):
                raise RuntimeError("numpy's MT19937 does not have its state as 624 words and a position")
            self._memory = memory
        return self._memory

    def state_bytes(self) -> Any:
        """Return the state in torch's layout, a new uint8 array of `STATE_BYTES` elements."""
        words = self._words()
        position = int(words[_WORDS])
        made: Any = np.empty(STATE_BYTES, np.uint8)
        # A seeded engine that drew nothing says "next 0"; one that used up its block says "next 624".
        left, following = (1, 0) if self._fresh else (_WORDS + 1 - position, position)
        _HEAD.pack_into(made, 0, self.seed, left, 1, following)
        made[_HEAD.size : _END].view(_LITTLE_UINT64)[:] = words[:_WORDS]
        cached = self.normal_cache
        _TAIL.pack_into(made, _END, 0.0, cached or 0.0, 0.0, cached is not None, 0.0, 0)
        return made

    def set_state_bytes(self, state: Any) -> None:
        """Continue from a state that `state_bytes`, or torch, returned; `state` is a uint8 array."""
        if state.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be "
                f"{state.size}"
            )
        record: Any = np.ascontiguousarray(state, np.uint8).reshape(-1)
        seed, left, seeded, following = _HEAD.unpack_from(record)
        if not (seeded & 0xFF and 0 < left <= _WORDS and following <= _WORDS):
            raise RuntimeError("Invalid mt19937 state")
        words = self._words()
        words[:_WORDS] = record[_HEAD.size : _END].view(_LITTLE_UINT64) & _MASK_64_TO_32
        words[_WORDS] = _WORDS if left == 1 else following
        self.seed = seed
        _, cached, _, valid, _, _ = _TAIL.unpack_from(record, _END)
        self.normal_cache = cached if valid else None
        self._fresh = left == 1 and following == 0
