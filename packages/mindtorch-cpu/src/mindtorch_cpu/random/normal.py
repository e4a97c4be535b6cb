"""Normal numbers: Box-Muller over blocks of 16 on large contiguous outputs, one pair at a time elsewhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .boxmuller import BLOCK, box_muller, scale
from .capability import capability
from .fused import fma64
from .libm import each, float32_each
from .order import fill
from .uniform import unit32, unit64

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator

    from .engine import Engine

_TWO_PI = 2 * math.pi


def normal(generator: Generator, out: Any, mean: float, std: float) -> None:
    """Fill `out`, of any real floating type, with normals of that mean and standard deviation."""
    with generator.lock:
        if out.size < BLOCK or not out.flags.c_contiguous:
            fill(out, lambda flat: _fill_serially(generator.engine, flat, mean, std))
        else:
            _fill_blocks(generator.engine, out.reshape(-1), mean, std)


def serial_normals(engine: Engine, count: int, mean: float, std: float) -> Any:
    """Return `count` float64 normals made in pairs; the unused half of the last pair waits in the engine."""
    unit = np.empty(count + 1)
    have = 0
    if count and engine.normal_cache is not None:
        unit[0], engine.normal_cache, have = engine.normal_cache, None, 1
    pairs = (count - have + 1) // 2
    if pairs:
        uniforms = unit64(engine, 2 * pairs)
        radius = np.sqrt(-2.0 * each(math.log1p, -uniforms[1::2]))
        angle = _TWO_PI * uniforms[0::2]
        unit[have : have + 2 * pairs : 2] = radius * each(math.cos, angle)
        sines = radius * each(math.sin, angle)
        unit[have + 1 : have + 2 * pairs : 2] = sines
        if have + 2 * pairs > count:
            engine.normal_cache = float(sines[-1])
    return _scaled64(unit[:count], mean, std)


def _scaled64(normals: Any, mean: float, std: float) -> Any:
    # With nothing to add there is one rounding in either case; adding zero makes a negative zero positive.
    return fma64(normals, std, mean) if capability.fused and mean != 0 else normals * std + mean


def _fill_serially(engine: Engine, out: Any, mean: float, std: float) -> None:
    values = serial_normals(engine, out.size, mean, std)
    # torch converts to a 16-bit type by way of float32.
    out[...] = values if out.dtype.itemsize == 8 else values.astype(np.float32)


def _fill_blocks(engine: Engine, out: Any, mean: float, std: float) -> None:
    """Fill the flat `out` of at least one block; a last partial block redraws the last 16 elements."""
    whole = out.size - out.size % BLOCK
    if out.dtype.itemsize == 8:
        # All elements are drawn before the last block is drawn again.
        out[...] = unit64(engine, out.size)
        _blocks64(out[:whole], mean, std)
        if whole < out.size:
            out[-BLOCK:] = unit64(engine, BLOCK)
            _blocks64(out[-BLOCK:], mean, std)
        return
    blocks = box_muller if capability.vector_normal else _blocks32
    wide = out if out.dtype == np.float32 else np.empty(out.size, np.float32)
    unit32(engine, wide if wide is out else wide[:whole])
    blocks(wide[:whole], mean, std)
    if whole < out.size:
        unit32(engine, wide[-BLOCK:])
        blocks(wide[-BLOCK:], mean, std)
    if wide is not out:
        out[...] = wide


def _blocks64(flat: Any, mean: float, std: float) -> None:
    pairs = flat.reshape(-1, BLOCK)
    radius = np.sqrt(-2.0 * each(math.log, 1.0 - pairs[:, :8]))
    angle = _TWO_PI * pairs[:, 8:]
    cosine, sine = each(math.cos, angle), each(math.sin, angle)
    pairs[:, :8] = fma64(radius * cosine, std, mean)
    pairs[:, 8:] = fma64(radius * sine, std, mean)


def _blocks32(flat: Any, mean: float, std: float) -> None:
    """Transform float32 blocks with the C library's single-precision functions."""
    pairs = flat.reshape(-1, BLOCK)
    radius = np.sqrt(np.float32(-2) * float32_each("logf", np.float32(1) - pairs[:, :8]))
    angle = (_TWO_PI * pairs[:, 8:].astype(np.float64)).astype(np.float32)
    cosine, sine = float32_each("cosf", angle), float32_each("sinf", angle)
    pairs[:, :8] = scale(radius * cosine, mean, std)
    pairs[:, 8:] = scale(radius * sine, mean, std)
