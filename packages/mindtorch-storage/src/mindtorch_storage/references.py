"""Who else holds on to an object: the one reader of CPython's reference counts.

A count seen through a local variable or a parameter depends on the interpreter and on the code around it: from 3.14 on
the compiler borrows local variables where it can. So the object is fetched here from what holds it, a list or an
attribute, and what that costs is found out at import.
"""

from __future__ import annotations

from sys import getrefcount
from typing import Any


class _Holder:
    __slots__ = ("held",)

    held: object


def _count_in_list(items: list[Any], place: int) -> int:
    return getrefcount(items[place])


def _count_in_attribute(holder: object, name: str) -> int:
    return getrefcount(getattr(holder, name))


def _calibrated() -> tuple[int, int]:
    """What the two functions above count that is no holder."""
    holder = _Holder()
    holder.held = object()
    return _count_in_list([object()], 0) - 1, _count_in_attribute(holder, "held") - 1


_IN_LIST, _IN_ATTRIBUTE = _calibrated()


def count_holders(holder: Any, place: Any) -> int:
    """Return how many references there are to `holder[place]` of a list, or to the attribute `place` of any other object:
    the holder's own and those of variables that were assigned it included."""
    if holder.__class__ is list:
        return _count_in_list(holder, place) - _IN_LIST
    return _count_in_attribute(holder, place) - _IN_ATTRIBUTE


def is_unshared(holder: Any, place: Any, holders: int = 1) -> bool:
    """True when what `holder` holds at `place`, as in `count_holders`, has no more than `holders` references, the holder's
    included. Parameters of functions are no holders to count with: hand over what holds the object."""
    return count_holders(holder, place) <= holders
