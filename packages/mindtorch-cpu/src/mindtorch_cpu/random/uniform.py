"""Continuous uniform numbers: 24 random bits for float32 and shorter types, 53 for float64."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .capability import capability
from .fused import fma64, round_once
from .order import fill

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator

    from .engine import Engine

CHUNK = 16384
"""Elements made at a time, so that the intermediate arrays stay in the cache."""

_MASK_24 = np.uint32((1 << 24) - 1)
_MASK_53 = np.uint64((1 << 53) - 1)
_SCALE_24 = np.float32(2.0**-24)
_SCALE_53 = 2.0**-53


def unit32(engine: Engine, out: Any) -> None:
    """Fill the flat float32 `out` with uniforms in [0, 1)."""
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        bits = engine.words(part.size)
        np.bitwise_and(bits, _MASK_24, out=bits)
        # 24 bits fit a float32, and signed integers convert with vector code.
        part[...] = bits.view(np.int32)
        np.multiply(part, _SCALE_24, out=part)


def bits53(engine: Engine, count: int) -> Any:
    """Return `count` random integers of 53 bits as uint64: uniforms before their scaling."""
    bits = engine.wide_words(count)
    return np.bitwise_and(bits, _MASK_53, out=bits)


def unit64(engine: Engine, count: int) -> Any:
    """Return a new array of `count` float64 uniforms in [0, 1)."""
    out = bits53(engine, count).view(np.int64).astype(np.float64)
    return np.multiply(out, _SCALE_53, out=out)


def uniform(generator: Generator, out: Any, low: float, high: float) -> None:
    """Fill `out`, of any real floating type, with uniforms in [low, high)."""
    with generator.lock:
        engine = generator.engine
        if out.dtype == np.float64:
            fill(out, lambda flat: _uniform64(engine, flat, low, high))
        else:
            fill(out, lambda flat: _uniform32(engine, flat, low, high))


def _uniform64(engine: Engine, out: Any, low: float, high: float) -> None:
    width = high - low
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        unit = unit64(engine, part.size)
        if low == 0:
            np.multiply(unit, width, out=part)
        else:
            part[...] = fma64(unit, width, low) if capability.fused else unit * width + low
        part[part == high] = low


def _uniform32(engine: Engine, out: Any, low: float, high: float) -> None:
    if low == 0 and high == 1 and out.dtype == np.float32:
        unit32(engine, out)
        return
    first, last = np.float32(low), np.float32(high)
    width = float(last - first)
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        bits = engine.words(part.size)
        np.bitwise_and(bits, _MASK_24, out=bits)
        values = bits.view(np.int32).astype(np.float64)
        # 24 bits times a float32 width: exact in float64.
        np.multiply(values, width * _SCALE_24, out=values)
        if not capability.fused:
            values = values.astype(np.float32) + first
        elif low != 0:
            values = round_once(values, float(first))
        part[...] = values.astype(np.float32, copy=False)
        # Rounding may reach the excluded end; torch then gives the included one.
        top = part == out.dtype.type(high)
        if top.any():
            part[top] = out.dtype.type(low)
