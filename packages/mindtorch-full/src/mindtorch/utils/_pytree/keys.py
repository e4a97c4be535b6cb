"""How a leaf is reached from its tree: one key per level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

K = TypeVar("K")
T = TypeVar("T")


class KeyEntry(Protocol):
    """One step of a path. Equal steps hash equal; printing one gives the code that takes it."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object) -> bool: ...

    def __str__(self) -> str: ...

    def get(self, parent: Any) -> Any:
        """Take the step."""
        ...


KeyPath = tuple[KeyEntry, ...]


@dataclass(frozen=True, slots=True)
class SequenceKey(Generic[T]):
    """``[idx]``"""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Sequence[T]) -> T:
        """The element at this index."""
        return sequence[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey(Generic[K, T]):
    """``['key']``"""

    key: K

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[K, T]) -> T:
        """The value of this key."""
        return mapping[self.key]


@dataclass(frozen=True, slots=True)
class GetAttrKey:
    """``.name``"""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The attribute of this name."""
        return getattr(obj, self.name)


def keystr(kp: KeyPath) -> str:
    """A path as code."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Follow a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
