"""Random bits of given probability, and the masks of dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .order import fill, memory_order
from .uniform import CHUNK, bits53, unit32

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator

    from .engine import Engine

_OUTSIDE = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please "
    "report an enhancement request to PyTorch.)"
)


def bernoulli(generator: Generator, out: Any, probability: float) -> None:
    """Fill `out`, of any real type, with ones of that probability and zeros."""
    with generator.lock:
        fill(out, lambda flat: _below(generator.engine, flat, probability))


def _below(engine: Engine, out: Any, probability: float) -> None:
    # uniform < p over 53-bit fractions is a comparison of integers: no float is ever made.
    threshold = np.uint64(math.ceil(math.ldexp(probability, 53)))
    mask = np.empty(min(out.size, CHUNK), np.bool_)
    for start in range(0, out.size, CHUNK):
        part = out[start : start + CHUNK]
        part[...] = np.less(bits53(engine, part.size), threshold, out=mask[: part.size])


def bernoulli_each(generator: Generator, out: Any, probabilities: Any) -> None:
    """Fill `out` with ones whose probabilities are given elementwise; `probabilities` broadcasts to `out`."""
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise RuntimeError(_OUTSIDE)
    chances = np.broadcast_to(probabilities, out.shape)
    order = memory_order(out.strides)
    target = out.transpose(order)
    chances = chances.transpose(order)
    with generator.lock:
        if chances.dtype == np.float64:
            # 53-bit integers convert exactly, and so does their scaling.
            units = bits53(generator.engine, out.size).astype(np.float64)
            np.multiply(units, 2.0**-53, out=units)
        else:
            units = np.empty(out.size, np.float32)
            unit32(generator.engine, units)
            chances = chances.astype(np.float32)
    target[...] = units.reshape(target.shape) < chances
