"""Orthogonal polynomials by their recurrences; a negative degree gives 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..register import kernel

Step = Callable[[int, Any, Any, Any], Any]


def _fused(factor: Any, value: Any, subtrahend: Any) -> Any:
    """Return `factor * value - subtrahend` rounded once, as the multiply-add of processors does it."""
    if value.dtype != np.float32:
        return factor * value - subtrahend
    return (factor.astype(np.float64) * value - subtrahend).astype(np.float32)


def _recurrence(x: Any, n: Any, first: Any, step: Step) -> Any:
    """Return p_n(x) where p_0 = 1, p_1 = `first` and `step(k, x, p_k, p_{k-1})` is p_{k+1}."""
    before, current = np.ones_like(x), first
    one = int(n[(0,) * n.ndim]) if n.size else 0  # iterators take 32 dimensions at most
    if one > 0 and (n == one).all():  # what any element's degree is needs no choice
        with np.errstate(all="ignore"):
            for degree in range(1, one):
                before, current = current, step(degree, x, current, before)
                if degree % 64 == 0 and np.isnan(current).all():  # which they stay
                    break
        return current
    result = np.where(n < 0, x.dtype.type(0), x.dtype.type(1))
    with np.errstate(all="ignore"):
        for degree in range(1, int(n.max(initial=0)) + 1):
            result = np.where(n == degree, current, result)
            if np.isnan(current[n > degree]).all():  # which they stay
                return np.where(n > degree, math.nan, result)
            before, current = current, step(degree, x, current, before)
    return result


def _chebyshev(kind: str, x: Any, n: Any) -> Any:
    first = {"t": x, "u": x + x, "v": x + x - 1, "w": x + x + 1}[kind]
    return _recurrence(x, n, first, lambda k, x, current, before: _fused(x + x, current, before))


def _at_ends(kind: str, n: Any) -> tuple[Any, Any]:
    """Return the values at 1 and at -1."""
    sign = np.where(n % 2 == 0, 1, -1)
    wide = 2 * n + 1
    return {
        "t": (1, sign),
        "u": (n + 1, sign * (n + 1)),
        "v": (1, sign * wide),
        "w": (wide, sign),
    }[kind]


def _by_angle(kind: str, x: Any, n: Any) -> Any:
    """Return the values inside (-1, 1) through the angle, which is accurate for large degrees."""
    angle = np.arccos(x)
    half, between = angle / 2, n.astype(x.dtype) + x.dtype.type(0.5)
    if kind == "t":
        return np.cos(n.astype(x.dtype) * angle)
    if kind == "u":
        return np.sin((n + 1).astype(x.dtype) * angle) / np.sin(angle)
    if kind == "v":
        return np.cos(between * angle) / np.cos(half)
    return np.sin(between * angle) / np.sin(half)


def _chebyshev_kernel(kind: str, shifted: bool) -> Callable[..., None]:
    limit = 6 if kind == "t" or shifted else 8

    def fill(out: Any, x: Any, n: Any) -> None:
        x, n = _operands(out, x, n)
        if shifted:
            x = x + x - 1
        many = n > limit
        with np.errstate(all="ignore"):
            inside = np.abs(x) < 1
            known = (many & inside) | (np.abs(x) == 1)
            result = _chebyshev(kind, x, np.where(known, 0, n))
            result = np.where(many & inside, _by_angle(kind, x, n), result)
        right, left = _at_ends(kind, n)
        result = np.where(x == 1, right, np.where(x == -1, left, result))
        out[...] = np.where(n < 0, 0, result)

    return fill


def _operands(out: Any, x: Any, n: Any) -> tuple[Any, Any]:
    # Degrees have the type of the result first, as in torch; one that is then no whole number of 64 bits counts as negative.
    degree = np.asarray(n).astype(out.dtype)
    degree = np.where(np.abs(degree) < 2.0**63, degree, -1)
    return np.broadcast_to(np.asarray(x, out.dtype), out.shape), np.broadcast_to(degree.astype(np.int64), out.shape)


for _kind in "tuvw":
    for _prefix in ("", "shifted_"):
        _name = f"special_{_prefix}chebyshev_polynomial_{_kind}"
        kernel(_name, f"{_name}.x_scalar", f"{_name}.n_scalar")(_chebyshev_kernel(_kind, bool(_prefix)))


def _kernel(name: str) -> Callable[[Callable[[Any, Any, Any], Any]], Callable[..., None]]:
    def register(values: Callable[[Any, Any, Any], Any]) -> Callable[..., None]:
        def fill(out: Any, x: Any, n: Any) -> None:
            x, n = _operands(out, x, n)
            out[...] = values(out, x, n)

        return kernel(name, f"{name}.x_scalar", f"{name}.n_scalar")(fill)

    return register


@_kernel("special_hermite_polynomial_h")
def hermite_h(out: Any, x: Any, n: Any) -> Any:
    """Physicists' Hermite polynomials; nan above the degree at which they overflow."""
    limit = 128 if out.dtype.itemsize == 4 else 512
    values = _recurrence(
        x, np.minimum(n, limit), x + x, lambda k, x, current, before: _fused(x + x, current, 2 * k * before)
    )
    return np.where(n > limit, math.nan, values)


@_kernel("special_hermite_polynomial_he")
def hermite_he(out: Any, x: Any, n: Any) -> Any:
    """Probabilists' Hermite polynomials; nan above the degree at which they overflow."""
    limit = 128 if out.dtype.itemsize == 4 else 512
    values = _recurrence(x, np.minimum(n, limit), x, lambda k, x, current, before: _fused(x, current, k * before))
    return np.where(n > limit, math.nan, values)


@_kernel("special_laguerre_polynomial_l")
def laguerre(out: Any, x: Any, n: Any) -> Any:
    """Laguerre polynomials."""
    values = _recurrence(
        x,
        np.where(x == 0, np.minimum(n, 0), n),
        1 - x,
        lambda k, x, current, before: _fused((k + k) + (1 - x), current, k * before) / (k + 1),
    )
    return np.where((x == 0) & (n >= 0), 1, values)


@_kernel("special_legendre_polynomial_p")
def legendre(out: Any, x: Any, n: Any) -> Any:
    """Legendre polynomials."""
    at_end = np.abs(x) == 1
    steps = np.where(at_end, np.minimum(n, 0), n)
    values = _recurrence(
        x, steps, x, lambda k, x, current, before: _fused((k + k + 1) * x, current, k * before) / (k + 1)
    )
    ends = np.where((x > 0) | (n % 2 == 0), 1, -1)
    return np.where(at_end & (n >= 0), ends, values)
