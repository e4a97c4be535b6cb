"""Size: the tuple of a tensor's extents."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, SupportsIndex, overload

from mindtorch_storage._pickling import is_importable_as

_new = tuple.__new__
followed: Callable[[Any], bool] | None = None
"""Which items stay as they are: the sizes that a tracer follows, while one runs; None otherwise."""
_LOWEST, _LARGEST = -(2**63), 2**63 - 1


class Size(tuple[int, ...]):
    """A tuple of ints with `numel()`; slices, sums and repetitions are sizes again.

    >>> size = torch.ones(2, 3).size()
    >>> size.numel(), size[0], tuple(size)
    (6, 2, (2, 3))
    >>> size + (4,)
    torch.Size([2, 3, 4])
    """

    __slots__ = ()
    __module__ = "torch"

    def __new__(cls, iterable: Iterable[Any] = (), /) -> Size:
        items = tuple(iterable)
        for position, item in enumerate(items):
            if item.__class__ is not int or not _LOWEST <= item <= _LARGEST:
                return _new(cls, _converted(items, position))
        return _new(cls, items)

    def __init_subclass__(cls, **kwargs: object) -> NoReturn:
        raise TypeError("type 'torch.Size' is not an acceptable base type")

    def numel(self) -> int:
        """The number of elements of a tensor of this size."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, key: slice, /) -> Size: ...
    def __getitem__(self, key: Any, /) -> Any:
        found = tuple.__getitem__(self, key)
        return _new(Size, found) if found.__class__ is tuple else found

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(other + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return _new(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return (Size if is_importable_as("torch", "Size", Size) else _restored), (tuple(self),)


def _restored(items: tuple[int, ...]) -> Size:
    return Size(items)


def _converted(items: tuple[Any, ...], first: int) -> list[int]:
    converted = list(items)
    for position in range(first, len(items)):
        item = items[position]
        if followed is not None and followed(item):
            continue
        try:
            converted[position] = operator.index(item)
        except Exception:  # noqa: BLE001 - whatever an object's __index__ raises, torch says this
            name = type(item).__name__
            raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{name}')") from None
    if any(isinstance(item, int) and not _LOWEST <= item <= _LARGEST for item in converted):
        raise ValueError("Overflow when unpacking long long")
    return converted
