"""Dimensions of nested tensors, and what they are of the packed elements."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch._prims_common import canonicalize_dims

__all__: list[str] = []


def _outer_to_inner_dim(ndim: int, dim: Any, ragged_dim: int, canonicalize: bool = False) -> Any:
    """Return the dimension of the packed elements that is one of the nested tensor; the batch's is the ragged one there."""
    if isinstance(dim, tuple | list):
        return type(dim)(dict.fromkeys(_outer_to_inner_dim(ndim, one, ragged_dim) for one in dim))
    place = canonicalize_dims(ndim, dim) if canonicalize else dim
    if not 0 <= place < ndim:
        raise AssertionError(f"dim {place} out of range for ndim {ndim}")
    return ragged_dim - 1 if place == 0 else place - 1


adopt(globals())
