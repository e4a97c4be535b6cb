"""Levels: what the dimensions of a value stand for, a first-class dimension or a position counted from the end.

A value of levels `(i, -2, -1)` has its first dimension bound to the dimension `i` and looks like a matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._tensor import Dim

Level = Any
"""A `Dim`, or a negative position."""


def find(levels: Sequence[Level], level: Level) -> int | None:
    """Return where a level stands, None where it does not; dimensions are compared by identity, as `==` is computed."""
    for place, one in enumerate(levels):
        if one is level or (isinstance(one, int) and isinstance(level, int) and one == level):
            return place
    return None


def positions(count: int) -> list[Level]:
    """Return the levels of a tensor of so many dimensions without first-class ones."""
    return list(range(-count, 0))


def bound_dims(levels: Iterable[Level]) -> list[Dim]:
    """Return the first-class dimensions among levels."""
    return [one for one in levels if not isinstance(one, int)]


def position_count(levels: Sequence[Level]) -> int:
    """Return how many levels are positions."""
    return len(levels) - len(bound_dims(levels))


def renumbered(levels: Sequence[Level | None]) -> list[Level]:
    """Return levels with their positions (None or an int) numbered as they stand."""
    made: list[Level] = []
    seen = 0
    for one in reversed(levels):
        if one is None or isinstance(one, int):
            seen -= 1
            made.append(seen)
        else:
            made.append(one)
    return made[::-1]


def joined(all_levels: Iterable[Sequence[Level]]) -> list[Level]:
    """Return every level once, in order of appearance; positions stand in their own order."""
    made: list[Level] = []
    for levels in all_levels:
        made += [one for one in levels if find(made, one) is None]
    return renumbered(made)


def matched(value: Any, levels: Sequence[Level], wanted: Sequence[Level]) -> Any:
    """Return a view of the value whose dimensions are the wanted levels; those it lacks have size 1."""
    places = [find(levels, one) for one in wanted]
    present = [place for place in places if place is not None]
    if present != list(range(value.dim())):
        value = value.permute(present)
    for at, place in enumerate(places):
        if place is None:
            value = value.unsqueeze(at)
    return value


def level_of(entry: Any, count: int) -> Level | None:
    """Return the level that an argument names in a tensor of `count` positions, None where it names none."""
    if not isinstance(entry, int):
        return entry if hasattr(entry, "is_bound") and not hasattr(entry, "bind_len") else None
    return entry - count if entry >= 0 else entry
