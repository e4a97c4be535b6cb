"""Weights as length times direction."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import wrap_dim
from ..typing import Tensor


def norm_except_dim(v: Tensor, pow: int, dim: int) -> Any:
    """Norms over every dimension but `dim`, which broadcast against `v`; over all of them for -1."""
    if dim == -1:
        return aten.norm(v, pow)
    ndim = len(v.shape)
    dim = wrap_dim(dim, ndim, scalar=False)
    if ndim == 1:  # an empty list of dimensions would mean all
        return aten.norm(aten.unsqueeze(v, 1), pow, [1])
    return aten.norm(v, pow, [place for place in range(ndim) if place != dim], True)


def weight_norm(v: Tensor, g: Tensor, dim: int) -> Any:
    """`v` scaled to the length `g`."""
    return v * (g / aten.norm_except_dim(v, 2, dim))
