"""Reductions as `torch._refs` has them: every one takes no dimension, one or several, and `keepdim` with any of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch import Tensor

Dims = int | Sequence[int] | None


def _dims(a: Tensor, dim: Dims) -> list[int]:
    return list(range(a.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)


def sum(
    a: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sums over some dimensions, or all."""
    return torch.sum(a, _dims(a, dim), keepdim, dtype=dtype, out=out)


def mean(
    a: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the means over some dimensions, or all."""
    return torch.mean(a, _dims(a, dim), keepdim, dtype=dtype, out=out)


def prod(
    a: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return the products over some dimensions, or all; RuntimeError for a dimension named twice."""
    dims = sorted((one % max(a.ndim, 1) for one in _dims(a, dim)), reverse=True)
    if len(set(dims)) < len(dims):
        raise RuntimeError("duplicate value in the list of dims")
    if not dims:
        return torch.prod(a, dtype=dtype) if out is None else torch.prod(a, 0, dtype=dtype, out=out)
    for one in dims[:-1]:
        a = torch.prod(a, one, keepdim, dtype=dtype)
    return torch.prod(a, dims[-1], keepdim, dtype=dtype, out=out)


def _spread(name: str) -> Callable[..., Any]:
    function = getattr(torch, name)

    def reduce(
        a: Tensor,
        dim: Dims = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: complex | None = None,
        out: Any = None,
    ) -> Any:
        if unbiased is not None and correction is not None:
            raise RuntimeError("cannot specify both correction and unbiased arguments")
        if correction is None:
            correction = 1 if unbiased is None else int(unbiased)
        given = {} if out is None else {"out": out}
        return function(a, _dims(a, dim), correction=correction, keepdim=keepdim, **given)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def _extreme(name: str) -> Callable[..., Any]:
    function = getattr(torch, name)

    def reduce(a: Tensor, dim: Dims = None, keepdim: bool = False, *, out: Tensor | None = None) -> Any:
        dims = _dims(a, dim)
        if a.ndim and any(a.shape[one] == 0 for one in dims):
            raise RuntimeError("reducing over zero-size dimension for reduction operation without identity")
        return function(a, dims, keepdim, out=out)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


var, std, var_mean, std_mean = (_spread(name) for name in ("var", "std", "var_mean", "std_mean"))
amax, amin = (_extreme(name) for name in ("amax", "amin"))
