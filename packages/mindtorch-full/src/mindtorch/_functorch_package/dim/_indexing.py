"""Indices with first-class dimensions: `x[i, j]` binds dimensions, `x[table[i], j]` gathers along them.

Each level of a value gets one item of the index; a level that is a dimension already is its own item. A dimension that
occurs once takes the level over. Occurring again (`x[i, i]`, `x[i][table[i]]`), it is the range of its numbers, and tensors
of indices are matched to all dimensions of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...func._rearrange import DimensionBindError
from ...tensor.tensor import Tensor as TorchTensor
from ._levels import Level, bound_dims, find, joined, level_of, matched, position_count, renumbered
from ._names import DimList
from ._tensor import HANDLERS, Dim, Parts, Tensor, _Tensor, known_parts, parts_of

_WHOLE = slice(None)


@dataclass
class _Selection:
    """A view of a tensor with an item for each of its dimensions, and the levels of what they select."""

    value: Any
    items: list[Any] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    gathers: bool = False


def getitem(self: Any, index: Any) -> Any:
    """Return what an index with first-class dimensions selects, or what it selects without them."""
    entries = _entries(self, index)
    if entries is None:
        return TorchTensor.__getitem__(self, index)
    parts = known_parts(self)
    return _selected(_select(parts, _spread(parts, entries)), parts)


def setitem(self: Any, index: Any, value: Any) -> None:
    """Assign to what an index selects; the dimensions of the value must be among the selected ones."""
    entries = _entries(self, index, value)
    if entries is None:
        TorchTensor.__setitem__(self, index, value)
        return
    parts = known_parts(self)
    selection = _select(parts, _spread(parts, entries))
    given = parts_of(value)
    if given is not None:
        for one in bound_dims(given.levels):
            if find(selection.levels, one) is None:
                raise DimensionBindError(
                    f"rhs of setitem contains dimension {one!r} which is not in the dimension on the left "
                    f"({tuple(selection.levels)!r})"
                )
        value = matched(given.value, given.levels, selection.levels)
    selection.value[tuple(selection.items) if selection.gathers else ...] = value


def index(self: Any, dims: Any, indices: Any) -> Any:
    """Return the tensor with an index for each of some dimensions; a tuple of dimensions is flattened before.

    >>> from functorch.dim import dims
    >>> i, j, both = dims()
    >>> torch.arange(6).reshape(2, 3)[i, j].index((i, j), both).order(both)
    tensor([0, 1, 2, 3, 4, 5])

    Raises TypeError where dims and indices differ in number, or a dimension is not there.
    """
    parts = known_parts(self)
    pairs = [(dims, indices)]
    if isinstance(dims, (tuple, list)) and isinstance(indices, (tuple, list)):
        if len(dims) != len(indices):
            raise TypeError(f"dims ({len(dims)}) and indices ({len(indices)}) must have the same length")
        pairs = list(zip(dims, indices, strict=True))
    count = position_count(parts.levels)
    keys: list[tuple[Level, Any]] = []
    for names, one in pairs:
        group = [_named(name, count) for name in (names if isinstance(names, (tuple, list)) else (names,))]
        if len(group) > 1:
            parts = _flattened(parts, group, count)
        if group:
            keys.append((group[0], one))
    items = [next((one for key, one in keys if find([level], key) is not None), _WHOLE) for level in parts.levels]
    return _selected(_select(parts, items), parts)


def _named(name: Any, count: int) -> Level:
    level = level_of(name, count)
    if level is None:
        raise TypeError(f"expected a dimension specifyer but found {name!r}")
    return level


def _flattened(parts: Parts, group: Sequence[Level], count: int) -> Parts:
    for one in group:
        if find(parts.levels, one) is None:
            shown = (
                f"{one + count} not in tensor of {count} dimensions"
                if isinstance(one, int)
                else f"{one!r} not in tensor"
            )
            raise TypeError(f"dimension {shown}")
    first, *rest = group
    levels = [one for one in parts.levels if find(rest, one) is None]
    at = find(levels, first)
    assert at is not None, "looked for above"
    value = matched(parts.value, parts.levels, [*levels[: at + 1], *rest, *levels[at + 1 :]])
    return parts._replace(value=value.flatten(at, at + len(rest)), levels=levels)


def _entries(self: Any, index: Any, value: Any = None) -> list[Any] | None:
    """Return the items of an index, None where nothing of it is about first-class dimensions."""
    several = isinstance(index, tuple) or (isinstance(index, list) and any(_is_item(one) for one in index))
    entries = list(index) if several else [index]
    concerned = isinstance(self, _Tensor) or isinstance(value, _Tensor)
    if concerned or any(isinstance(one, (_Tensor, DimList)) or _is_pack(one) for one in entries):
        return entries
    return None


def _is_item(one: Any) -> bool:
    return one is None or one is ... or isinstance(one, (slice, _Tensor)) or hasattr(one, "__iter__")


def _is_pack(one: Any) -> bool:
    return isinstance(one, (tuple, list)) and len(one) > 0 and all(isinstance(part, Dim) for part in one)


def _spread(parts: Parts, entries: list[Any]) -> list[Any]:
    """Return an item for each level: `...` and a list of open length stand for all that are left; None is kept."""
    open_at = [at for at, one in enumerate(entries) if one is ... or (isinstance(one, DimList) and not one.is_bound)]
    if len(open_at) > 1:
        raise DimensionBindError(
            "at most one ... or unbound dimension list can exist in indexing list but found 2 at offsets "
            f"{open_at[0]} and {open_at[1]}"
        )
    total = position_count(parts.levels)
    counted = [one for at, one in enumerate(entries) if at not in open_at and one is not None]
    used = sum(len(one) if isinstance(one, DimList) else 1 for one in counted)
    if used > total:
        raise ValueError(f"at least {used} indices were supplied but the tensor only has {total} dimensions")
    spread: list[Any] = []
    for one in entries:
        if isinstance(one, DimList):
            one.bind_len(len(one) if one.is_bound else total - used)
            spread += one._dims
        else:
            spread += [_WHOLE] * (total - used) if one is ... else [one]
    return _over_levels(parts.levels, spread)


def _over_levels(levels: Sequence[Level], spread: list[Any]) -> list[Any]:
    items: list[Any] = []
    left = list(spread)
    for one in levels:
        if isinstance(one, int):
            while left and left[0] is None:
                items.append(left.pop(0))
            items.append(left.pop(0) if left else _WHOLE)
        else:
            items.append(_WHOLE)
    return items + left


def _select(parts: Parts, items: Sequence[Any]) -> _Selection:
    """Return the view that items select from; `items` has one for each level, and None where a dimension is made."""
    value, known, uses = parts.value, [], []
    levels = iter(parts.levels)
    at = 0
    for one in items:
        level = None if one is None else next(levels)
        if one is None:
            value = value.unsqueeze(at)
            given: list[Any] = [_WHOLE]
        elif isinstance(one, slice) and one == _WHOLE and not isinstance(level, int):
            given = [level]
        elif _is_pack(one):
            value, given = value.unflatten(at, _pack_sizes(value.shape[at], one)), list(one)
        else:
            if isinstance(one, Dim):
                one.size = value.shape[at] if not one.is_bound else one.size
            given = [one]
        known += given
        uses += [dim for each in given if isinstance(each, _Tensor) for dim in bound_dims(each._get_levels())]
        at += len(given)
    return _resolved(value, known, uses)


def _pack_sizes(size: int, dims: Sequence[Dim]) -> list[int]:
    """Give the one dimension without a size what is left; torch's errors where sizes do not fit."""
    unbound = [one for one in dims if not one.is_bound]
    if len(unbound) > 1:
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {unbound[0]!r} and {unbound[1]!r}")
    rest = math.prod(one.size for one in dims if one.is_bound)
    if unbound:
        if rest == 0 or size % rest:
            shown = tuple(one.size if one.is_bound else "?" for one in dims)
            raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {shown}")
        unbound[0].size = size // rest
    elif rest != size:
        raise DimensionBindError(
            f"Dimension sizes to do not match ({size} != {rest}) when matching dimension pack {tuple(dims)}"
        )
    return [one.size for one in dims]


def _resolved(value: Any, known: list[Any], uses: list[Dim]) -> _Selection:
    made = _Selection(value)
    gathered: dict[int, Parts] = {}
    place: int | None = None
    for at, one in enumerate(known):
        once = isinstance(one, Dim) and sum(dim is one for dim in uses) == 1
        parts = None if once else parts_of(one)
        if once:
            if value.shape[at] != one.size:
                one.size = value.shape[at]
            made.levels.append(one)
            made.items.append(_WHOLE)
            continue
        if parts is not None:
            gathered[at] = parts
            # As numpy has it: where the first index stands, in front when others stand between.
            place = len(made.levels) if place in (None, len(made.levels)) else 0
        elif not isinstance(one, int) or isinstance(one, bool):
            made.levels.append(None)
        made.items.append(one)
        made.gathers = made.gathers or parts is not None or not (isinstance(one, slice) and one == _WHOLE)
    if place is not None:
        common = joined(parts.levels for parts in gathered.values())
        made.levels[place:place] = common
        for at, parts in gathered.items():
            made.items[at] = matched(
                parts.value if parts.placed else parts.value.to(value.device), parts.levels, common
            )
    made.levels = renumbered(made.levels)
    return made


def _selected(selection: _Selection, parts: Parts) -> Any:
    value = selection.value[tuple(selection.items)] if selection.gathers else selection.value
    return Tensor.from_positional(value, selection.levels, parts.placed)


HANDLERS[TorchTensor.__getitem__] = getitem
HANDLERS[TorchTensor.__setitem__] = setitem
