"""Poisson and binomial counts and gamma numbers, by rejection: how many words one draw takes depends on the draw.

The arithmetic follows the types torch computes in, so that a candidate is accepted exactly where torch accepts it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .normal import serial_normals
from .order import in_memory_order, memory_order

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator
    from mindtorch_cpu.random.engine import Engine

_MASK_53 = (1 << 53) - 1
_SCALE_53 = 2.0**-53
_SMALL_RATE = 10.0
_THIRD = float(np.float32(1.0) / np.float32(3.0))
_SQUEEZE = float(np.float32(0.0331))
# ln k! minus Stirling's formula, for k below 10.
_STIRLING_TAIL = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def poisson(generator: Generator, out: Any, rates: Any) -> None:
    """Fill `out` with Poisson counts of elementwise `rates`, of the shape of `out`."""
    if not (rates >= 0).all():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    ordered = rates.transpose(memory_order(out.strides))
    with generator.lock:
        draw = _unit(generator.engine)
        values = [_counted(_poisson(float(rate), draw)) for rate in ordered.reshape(-1).tolist()]
    _store(out, values)


def binomial(generator: Generator, out: Any, counts: Any, probabilities: Any) -> None:
    """Fill `out` with numbers of successes in `counts` trials of `probabilities`."""
    order = memory_order(out.strides)
    number = np.float32 if out.dtype.itemsize < 8 else np.float64
    trials = counts.transpose(order).reshape(-1).astype(number)
    chances = probabilities.transpose(order).reshape(-1).astype(number)
    with generator.lock:
        draw = _unit(generator.engine)
        values = [float(_binomial(n, p, draw)) for n, p in zip(trials, chances, strict=True)]
    _store(out, values)


def standard_gamma(generator: Generator, out: Any, shapes: Any) -> None:
    """Fill `out` with gamma numbers of elementwise shape parameters and scale 1."""
    order = memory_order(out.strides)
    number = np.float32 if out.dtype.itemsize < 8 else np.float64
    parameters = shapes.transpose(order).reshape(-1).astype(number)
    with generator.lock:
        values = [_gamma(generator.engine, shape) for shape in parameters]
    _store(out, values)
    np.fmax(out, np.finfo(number).tiny, out=out)


def sample_dirichlet(generator: Generator, out: Any, concentrations: Any) -> None:
    """Fill `out` with probabilities: gamma numbers in float64, divided by their sum over the last dimension."""
    gammas = np.empty(out.shape, np.float64)
    standard_gamma(generator, gammas, concentrations.astype(np.float64))
    shares = gammas / gammas.sum(-1, keepdims=True)
    # Both ends of the simplex stay out, whatever the dtype rounds to.
    number = out.dtype.type
    np.clip(shares.astype(number), np.finfo(number).tiny, np.nextafter(number(1), number(0)), out=out)


def _store(out: Any, values: list[Any]) -> None:
    view = in_memory_order(out)
    view[...] = np.array(values, np.float64).reshape(view.shape)


def _floor(number: float) -> float:
    """`math.floor`, and what is no number as it is."""
    return float(math.floor(number)) if math.isfinite(number) else number


def _logarithm(number: float) -> float:
    """`math.log` with C's answers where there is none."""
    return math.log(number) if number > 0 else math.nan if number else -math.inf


def _unit(engine: Engine) -> Callable[[], float]:
    word = engine.wide_word
    return lambda: (word() & _MASK_53) * _SCALE_53


def _counted(count: float) -> float:
    """A count as torch holds it, in 64 bits: what they do not hold is the lowest number."""
    return count if -(2.0**63) <= count < 2.0**63 else -(2.0**63)


def _poisson(rate: float, draw: Callable[[], float]) -> float:
    if rate == 0:
        return 0
    if rate >= _SMALL_RATE:
        return _poisson_rejection(rate, draw)
    limit, product, count = math.exp(-rate), draw(), 0
    while product > limit:
        product *= draw()
        count += 1
    return count


def _poisson_rejection(rate: float, draw: Callable[[], float]) -> float:
    """Hoermann's transformed rejection (PTRS, 1993)."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    inside = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draw() - 0.5
        v = draw()
        edge = 0.5 - abs(u)
        count = _floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1.0
        if edge >= 0.07 and v <= inside:
            return count
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        left = _logarithm(v) + math.log(inverse_alpha) - _logarithm(a / (edge * edge) + b)
        if left <= -rate + count * log_rate - math.lgamma(count + 1):
            return count


def _binomial(count: Any, probability: Any, draw: Callable[[], float]) -> Any:
    if count <= 0 or probability <= 0:
        return 0
    if probability >= 1:
        return count
    if not (probability <= 0.5 or probability > 0.5):
        return math.nan
    if probability > 0.5:
        return count - _binomial(count, type(probability)(1.0 - float(probability)), draw)
    if count * probability >= _SMALL_RATE:
        return _binomial_rejection(count, probability, draw)
    return _binomial_inversion(float(count), probability, draw)


def _binomial_inversion(count: float, probability: Any, draw: Callable[[], float]) -> int:
    """Count the geometric waiting times that fit into `count` trials."""
    log_failure = float(np.log1p(-probability))
    waited, successes = 0.0, 0
    while True:
        u = draw()
        waited -= _floor(-math.log(u) / log_failure) if u else -math.inf
        if waited > count:
            return successes
        successes += 1


def _binomial_rejection(count: Any, probability: Any, draw: Callable[[], float]) -> float:
    """Hoermann's transformed rejection (BTRS), without the squeeze's logarithm, as TensorFlow and torch have it."""
    one = type(probability)(1)
    n = float(count)
    deviation = float(np.sqrt(count * probability * (one - probability)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(probability)
    centre = float(count * probability) + 0.5
    inside = 0.92 - 4.2 / b
    odds = float(probability / (one - probability))
    alpha = (2.83 + 5.1 / b) * deviation
    mode = float(np.floor((count + one) * probability))
    while True:
        u = draw() - 0.5
        v = draw()
        edge = 0.5 - abs(u)
        k = _floor((2 * a / edge + b) * u + centre) if edge else -1.0
        if k < 0 or k > n:
            continue
        if edge >= 0.07 and v <= inside:
            return k
        v = _logarithm(v * alpha / (a / (edge * edge) + b))
        bound = (
            (mode + 0.5) * _logarithm((mode + 1) / (odds * (n - mode + 1)))
            + (n + 1) * _logarithm((n - mode + 1) / (n - k + 1))
            + (k + 0.5) * _logarithm(odds * (n - k + 1) / (k + 1))
            + _stirling_tail(mode)
            + _stirling_tail(n - mode)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if v <= bound:
            return k


def _stirling_tail(k: float) -> float:
    if k < len(_STIRLING_TAIL):
        return _STIRLING_TAIL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _gamma(engine: Engine, shape: Any) -> float:
    """Marsaglia and Tsang (2000); shapes below 1 are boosted by a power of a uniform."""
    number = type(shape)
    draw = _unit(engine)
    scale = 1.0
    if shape < 1:
        if shape == 0:
            return 0.0
        scale = float(np.float64(1 - draw()) ** float(number(1) / shape))
        shape = shape + number(1)
    d = float(shape - number(_THIRD))
    c = 1.0 / math.sqrt(9.0 * d) if d > 0 else math.nan  # of a negative shape: nothing is refused, the sample is nan
    while True:
        x = float(serial_normals(engine, 1, 0.0, 1.0)[0])
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - draw()
        square = x * x
        if u < 1.0 - _SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v
