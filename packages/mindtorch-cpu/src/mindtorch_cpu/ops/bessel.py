"""Bessel and Airy functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import special
from ..register import kernel, ufunc

for _name, _function in {
    "special_i0e": special.i0e,
    "special_i1": special.i1,
    "special_i1e": special.i1e,
    "special_bessel_j0": special.j0,
    "special_bessel_j1": special.j1,
    "special_bessel_y0": special.y0,
    "special_bessel_y1": special.y1,
    "special_modified_bessel_i0": special.i0,
    "special_modified_bessel_i1": special.i1,
    "special_modified_bessel_k0": special.k0,
    "special_modified_bessel_k1": special.k1,
    "special_scaled_modified_bessel_k0": special.k0e,
    "special_scaled_modified_bessel_k1": special.k1e,
}.items():
    kernel(_name)(ufunc(_function))


_AIRY_VANISHES = 103.892
"""Where Airy's function is less than the least double."""


@kernel("special_airy_ai")
def airy_ai(out: Any, x: Any) -> None:
    """Airy's function of the first kind; it is 0 as soon as it lies below the least number."""
    out[...] = np.where(np.isfinite(x) & (x > _AIRY_VANISHES), 0, special.airy(x)[0])


@kernel("special_spherical_bessel_j0")
def spherical_bessel_j0(out: Any, x: Any) -> None:
    """`sin(x) / x`, 1 at 0, 0 at infinity."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(x == 0, 1, np.sin(x) / x)
    out[...] = np.where(np.isinf(x), 0, values)
