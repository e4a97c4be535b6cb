"""Dimensions ordered, added, joined and split: `order`, `expand`, `stack`, `cat`, `split`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...func._rearrange import DimensionBindError
from ...functions.bound import function_of
from ...tensor.tensor import Tensor as TorchTensor
from ._indexing import index
from ._levels import Level, find, joined, level_of, matched, position_count, renumbered
from ._names import DimList
from ._tensor import HANDLERS, Dim, Parts, Tensor, call_matched, known_parts


def order(self: Any, *dims: Any) -> Any:
    """Return the tensor with dimensions as positions, before those it has; a tuple of dimensions is flattened to one.

    Raises ValueError for a dimension that the tensor lacks or that is named twice.
    """
    parts = known_parts(self)
    count = position_count(parts.levels)
    groups: list[list[Level]] = []
    for one in dims:
        level = level_of(one, count)
        if level is not None:
            groups.append([level])
        elif isinstance(one, DimList):
            groups += [[dim] for dim in one._dims]
        elif hasattr(one, "__iter__"):
            groups.append([_single(each, count) for each in one])
        else:
            raise ValueError("expected a Dim, List[Dim], or Sequence[Dim]")
    rest = list(parts.levels)
    for level in (each for group in groups for each in group):
        place = find(rest, level)
        if place is None:
            raise ValueError(
                f"tensor has {count} positional dimensions, but {level + count} specified, or it was specified twice"
                if isinstance(level, int)
                else f"tensor does not contain dim {level} or it was specified twice"
            )
        del rest[place]
    at = next((place for place, level in enumerate(rest) if isinstance(level, int)), len(rest))
    flat = [level for group in groups for level in group]
    value = matched(parts.value, parts.levels, [*rest[:at], *flat, *rest[at:]])
    if any(len(group) != 1 for group in groups):
        sizes = iter(value.shape[at : at + len(flat)])
        shape = [math.prod([next(sizes) for _ in group]) for group in groups]
        value = value.reshape([*value.shape[:at], *shape, *value.shape[at + len(flat) :]])
    return Tensor.from_positional(value, renumbered([*rest[:at], *(None for _ in groups), *rest[at:]]), parts.placed)


def expand(self: Any, *args: Any) -> Any:
    """Return the tensor with new dimensions in front; sizes in place of dimensions expand positions, as in torch."""
    if not all(isinstance(one, Dim) for one in args):
        return call_matched(TorchTensor.expand, (self, *args), {})
    parts = known_parts(self)
    for at, one in enumerate(args):
        if find([*parts.levels, *args[:at]], one) is not None:
            raise DimensionBindError(f"expanding dimension {one} already exists in tensor with dims")
    value = parts.value.expand([*(one.size for one in args), *parts.value.shape])
    return Tensor.from_positional(value, [*args, *parts.levels], parts.placed)


def stack(tensors: Any, new_dim: Any, dim: Any = 0) -> Any:
    """Return the tensors along a new first-class dimension, which takes their number as its size.

    >>> from functorch.dim import dims, stack
    >>> i, n = dims()
    >>> x = torch.arange(2)
    >>> stack([x[i], x[i] + 5], n).order(i, n)
    tensor([[0, 5],
            [1, 6]])
    """
    if not tensors:
        raise ValueError("stack expects a non-empty sequence of tensors")
    if not isinstance(new_dim, Dim):
        return function_of("stack")(tensors, dim=dim)
    known = [known_parts(one) for one in tensors]
    levels = joined(one.levels for one in known)
    new_dim.size = len(known)
    at = 0
    if dim is not None and not (isinstance(dim, int) and dim == 0):
        found = find(levels, level_of(dim, position_count(levels)))
        if found is None:
            raise TypeError(f"Dimension {dim} does not exist in inputs")
        at = found
    sizes = [one.size if isinstance(one, Dim) else None for one in levels]
    value = function_of("stack")([_whole(one, levels, sizes) for one in known], at)
    return Tensor.from_positional(value, [*levels[:at], new_dim, *levels[at:]], known[0].placed)


def cat(tensors: Any, dim: Any, new_dim: Any) -> Any:
    """Return the tensors joined along `dim`, which is called `new_dim` then.

    >>> from functorch.dim import dims, cat
    >>> i, long = dims()
    >>> cat([torch.arange(2)[i], torch.arange(2)[i] + 5], i, long).order(long)
    tensor([0, 1, 5, 6])
    """
    number = Dim("n")
    return index(stack(tensors, number, dim), [(number, dim)], [new_dim])


def split(tensor: Any, split_size_or_sections: Any, dim: Any = None) -> Any:
    """Return the pieces of a dimension; dimensions in place of sizes are bound to them, those without a size share the rest.

    Raises TypeError for sizes and dimensions together, and where their sizes do not add up.
    """
    parts = known_parts(tensor)
    given = split_size_or_sections
    sections: list[Any] = [given] if isinstance(given, int) else list(given)
    named = [isinstance(one, Dim) for one in sections]
    if not any(named):
        if isinstance(dim, Dim):
            raise TypeError("when dim is specified as a Dim object, split sizes must also be dimensions.")
        return call_matched(TorchTensor.split, (tensor, given), {"dim": 0 if dim is None else dim})
    if not all(named):
        raise TypeError("split list must be ints or dims but got a mix")
    count = position_count(parts.levels)
    if count == 0 and not isinstance(dim, Dim):
        raise TypeError("split expects at least a 1-dimension tensor")
    at = find(parts.levels, level_of(0 if dim is None else dim, count))
    if at is None:
        raise TypeError(f"tensor does not contain dimension {0 if dim is None else dim}")
    _share(sections, parts.value.shape[at])
    pieces = parts.value.split_with_sizes([one.size for one in sections], at)
    return tuple(
        Tensor.from_positional(piece, [*parts.levels[:at], one, *parts.levels[at + 1 :]], parts.placed)
        for piece, one in zip(pieces, sections, strict=True)
    )


def _share(dims: Sequence[Dim], size: int) -> None:
    unbound = [one for one in dims if not one.is_bound]
    total = sum(one.size for one in dims if one.is_bound)
    if not unbound:
        if total != size:
            raise TypeError(f"sum of sizes of target dimensions ({total}) do not match the source dim ({size})")
        return
    if total > size:
        raise TypeError(f"sizes of target dimensions add up to more ({total}) than source dim ({size})")
    left = size - total
    chunk = -(-left // len(unbound))
    for one in unbound:
        one.size = min(chunk, left)
        left -= one.size


def _single(entry: Any, count: int) -> Level:
    level = level_of(entry, count)
    if level is None:
        raise ValueError("expected a Dim or int")
    return level


def _whole(parts: Parts, levels: Sequence[Level], sizes: Sequence[int | None]) -> Any:
    value = matched(parts.value, parts.levels, levels)
    return value.expand([-1 if size is None else size for size in sizes])


HANDLERS[function_of("stack")] = stack
HANDLERS[function_of("split")] = split
HANDLERS[TorchTensor.split] = split
