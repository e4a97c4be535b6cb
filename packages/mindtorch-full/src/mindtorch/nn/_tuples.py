"""Turning the sizes users give into one entry per dimension."""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple]:
    """Return a function that turns an iterable into a tuple and repeats anything else ``n`` times."""

    def parse(x: Any) -> tuple:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple:
    """Return ``t`` reversed with every element ``n`` times: padding per dimension in the order ``F.pad`` takes."""
    return tuple(x for x in reversed(tuple(t)) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Return ``out_size`` with None replaced by the entry of ``defaults`` at the same distance from the end."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    # Not strict: an empty `out_size` takes all of `defaults` for its tail, and the op words that error.
    tail = defaults[-len(out_size) :]
    return [default if size is None else size for size, default in zip(out_size, tail, strict=False)]
