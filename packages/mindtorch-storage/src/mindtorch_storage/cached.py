"""A property that is computed once, without a lock.

Until Python 3.12 `functools.cached_property` has one lock for all objects of a class, and a child that is forked while
another thread computes such a property waits for it for ever. Here two threads may compute it both; one value stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """`functools.cached_property` of Python 3.12."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> cached_property[T]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object, kind: type) -> cached_property[T] | T:
        if owner is None:
            return self
        kept: T = owner.__dict__.setdefault(self.name, self.compute(owner))
        return kept
