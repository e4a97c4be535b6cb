"""Reductions of nested tensors: over all, over the ragged dimension tensor by tensor, or over others of the packed elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from .functions import answers, contiguous, place_of, unbind
from .nested_tensor import like

_LOOKED_FOR = frozenset(("amax", "amin", "max", "min", "argmax", "argmin"))


def _reduced(name: str, several: bool) -> Callable[..., Any]:
    def computed(input: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
        function = getattr(torch, name)
        if dim is None:
            values = input.values() if input._lengths is None else contiguous(input).values()
            return function(values, **options)
        rank, ragged = len(input._size), input._ragged_idx
        dims = {place_of(input, one) for one in ([dim] if isinstance(dim, int) else dim or range(rank))}
        if 0 in dims and ragged not in dims:
            raise RuntimeError(
                f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested "
                "tensors"
            )
        if ragged in dims and len(dims) > 1 and 0 not in dims:
            raise RuntimeError(
                f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors"
            )
        inner: Any = sorted(one - 1 for one in dims if one)
        inner = inner if several else inner[0]
        if ragged not in dims:
            gone = 0 if keepdim else sum(one < ragged for one in dims)
            return _wrapped(input, function(input.values(), inner, keepdim, **options), ragged - gone)
        if 0 in dims:
            total = function(contiguous(input).values(), inner, keepdim, **options)
            return total.unsqueeze(0) if keepdim else total
        parts = [function(_filled(part, ragged - 1, name), inner, keepdim, **options) for part in unbind(input)]
        if isinstance(parts[0], torch.Tensor):
            return torch.stack(parts)
        return type(parts[0])(torch.stack(each) for each in zip(*parts, strict=True))

    return computed


def _filled(part: Any, place: int, name: str) -> Any:
    """Return a tensor in which something is to be looked for: an empty one has a place that every other would win over."""
    if part.shape[place] or name not in _LOOKED_FOR:
        return part
    info = torch.finfo(part.dtype) if part.dtype.is_floating_point else torch.iinfo(part.dtype)
    size = [1 if dim == place else extent for dim, extent in enumerate(part.shape)]
    return part.new_full(size, info.max if "min" in name else info.min)


def _wrapped(nested: Any, result: Any, ragged: int) -> Any:
    if isinstance(result, torch.Tensor):
        return like(nested, result, ragged)
    return type(result)(like(nested, one, ragged) for one in result)


for _name in ("sum", "mean", "amax", "amin"):
    answers(_name)(_reduced(_name, True))
for _name in ("prod", "max", "min", "any", "all", "argmax", "argmin"):
    answers(_name)(_reduced(_name, False))


adopt(globals())
