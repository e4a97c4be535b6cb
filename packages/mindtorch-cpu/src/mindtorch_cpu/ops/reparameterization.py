"""How a drawn gamma or beta number moves with its law's parameter, its quantile held: dx/da = -(dF/da) / f(x).

Since the parameter enters the density as a power, dF/da is the integral of (log t - E[log t]) f(t), over the left of x
or, negated, over the right. On one of the two sides the integrand has one sign, so nothing cancels; that side is
integrated, in a variable in which the exponent is concave, by Gauss' rule on panels up to where it has vanished.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_cpu.lazy import special
from mindtorch_cpu.register import kernel

_PANELS, _NODES = 9, 16
_VANISHED = 42.0
"""The integrand counts as gone where its exponent has fallen by this much."""


@functools.cache
def _rule() -> tuple[Any, Any]:
    """Nodes and weights on [0, 1]; the panels shrink towards both ends, where the integrand may change fastest."""
    points, weights = np.polynomial.legendre.leggauss(_NODES)
    half = np.geomspace(2e-3, 0.5, _PANELS)
    edges = np.concatenate(([0.0], half, 1 - half[-2::-1], [1.0]))
    starts, lengths = edges[:-1, None], np.diff(edges)[:, None]
    return (starts + lengths * (points + 1) / 2).ravel(), (lengths * weights / 2).ravel()


def _reach(fall: Callable[[Any], Any], like: Any) -> Any:
    """Return how far one has to go until the exponent has fallen by `_VANISHED`."""
    low, high = np.full_like(like, -30.0), np.full_like(like, 40.0)  # powers of e
    for _ in range(40):
        middle = (low + high) / 2
        short = fall(np.exp(middle)) < _VANISHED
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.exp(high)


def _integral(fall: Callable[[Any], Any], factor: Callable[[Any], Any], like: Any) -> Any:
    """Integrate factor(w) * exp(-fall(w)) over w from 0 to where nothing is left."""
    width = _reach(fall, like)
    total = np.zeros_like(like)
    for node, weight in zip(*_rule(), strict=True):
        distance = width * node
        total += weight * factor(distance) * np.exp(-fall(distance))
    return total * width


@kernel("_standard_gamma_grad")
def standard_gamma_grad(out: Any, self: Any, output: Any) -> None:
    """The derivative of a gamma number by its shape, at scale 1."""
    with np.errstate(all="ignore"):
        shape, x = (np.broadcast_to(np.asarray(part, np.float64), out.shape) for part in (self, output))
        start = np.log(x) - special.digamma(shape)
        side = np.where(start <= 0, -1.0, 1.0)

        def fall(w: Any) -> Any:
            return x * np.expm1(side * w) - shape * side * w

        grown = x * _integral(fall, lambda w: np.abs(start + side * w), np.zeros(out.shape))
        out[...] = np.where(x == 0, 0, grown)


@kernel("_dirichlet_grad")
def dirichlet_grad(out: Any, x: Any, alpha: Any, total: Any) -> None:
    """The derivative of a beta number by its first parameter, the second held, divided by 1 - x."""
    with np.errstate(all="ignore"):
        drawn, a, sum_of_both = (np.broadcast_to(np.asarray(part, np.float64), out.shape) for part in (x, alpha, total))
        below_one = np.minimum(drawn, 1 - 2.0**-53)
        b = sum_of_both - a
        mean = special.digamma(a) - special.digamma(sum_of_both)
        logit = np.log(below_one) - np.log1p(-below_one)
        side = np.where(np.log(below_one) <= mean, -1.0, 1.0)

        def exponent(z: Any) -> Any:
            return -a * np.logaddexp(0, -z) - b * np.logaddexp(0, z)

        origin = exponent(logit)

        def fall(w: Any) -> Any:
            return origin - exponent(logit + side * w)

        def factor(w: Any) -> Any:
            return np.abs(-np.logaddexp(0, -(logit + side * w)) - mean)

        out[...] = drawn * _integral(fall, factor, np.zeros(out.shape))
