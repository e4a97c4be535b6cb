"""Weights as length times direction."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import check, wrap_dim
from ..typing import Tensor


def norm_except_dim(v: Tensor, pow: int, dim: int) -> Any:
    """Norms over every dimension but `dim`, which broadcast against `v`; over all of them for -1."""
    if dim == -1:
        return aten.norm(v, pow)
    ndim = len(v.shape)
    dim = wrap_dim(dim, ndim, scalar=False)
    check(
        v.shape[dim] > 0,
        lambda: (
            f"cannot reshape tensor of 0 elements into shape {[-1, 0] if 0 < dim == ndim - 1 else [0, -1]} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        ),
    )
    if ndim == 1:  # an empty list of dimensions would mean all
        return aten.norm(aten.unsqueeze(v, 1), pow, [1])
    return aten.norm(v, pow, [place for place in range(ndim) if place != dim], True)


def weight_norm(v: Tensor, g: Tensor, dim: int) -> Any:
    """`v` scaled to the length `g`; along an outer dimension torch's kernel reads a length for each of its places."""
    ndim = len(v.shape)
    if 0 <= dim < ndim and dim in (0, ndim - 1):
        places = v.shape[dim]
        check(g.numel() == places, lambda: f"_weight_norm: expected g to have {places} elements, but got {g.numel()}")
        g = aten.reshape(g, [places if at == dim else 1 for at in range(ndim)])
    return v * (g / aten.norm_except_dim(v, 2, dim))
