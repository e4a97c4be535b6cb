"""What a recording consists of: calls of operators, the values between them, and the module calls that they lie in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Frame:
    """One call of a module while it is traced. The outermost has no parent; `path` is the module's, from the traced one."""

    def __init__(self, parent: Frame | None, path: str) -> None:
        self.parent = parent
        self.path = path
        self.depth: int = 0 if parent is None else parent.depth + 1

    def contains(self, path: str) -> bool:
        """Whether an attribute or module of this path can be asked for through this frame's module."""
        return not self.path or path == self.path or path.startswith(f"{self.path}.")

    def relative(self, path: str) -> str:
        """Return a path as it is seen from this frame's module."""
        return path[len(self.path) + 1 :] if self.path else path

    def outwards(self) -> Iterator[Frame]:
        """Return this frame and those around it."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent


class Value:
    """A tensor of the recording: an input, an attribute of a module (`path`) or the output of a call."""

    def __init__(self, frame: Frame, path: str | None = None, hint: str = "", kind: str = "Tensor") -> None:
        self.frame = frame
        self.path = path
        self.hint = hint
        self.kind = kind


class Constant:
    """A tensor that no call made and no module has, by its place among the constants."""

    def __init__(self, number: int) -> None:
        self.number = number


class Number:
    """The number in a traced tensor, where an operator takes a number: `int(size)`."""

    def __init__(self, value: Value, word: str) -> None:
        self.value = value
        self.word = word


class Call:
    """A call of an operator. `spread` says that its one result is a list, of which the outputs are the elements."""

    def __init__(self, name: str, overload: Any, args: Any, kwargs: dict[str, Any], frame: Frame) -> None:
        self.name = name
        self.overload = overload
        self.args = args
        self.kwargs = kwargs
        self.frame = frame
        self.outputs: list[Value] = []
        self.spread = False
        self.specs: list[Any] = []

    @property
    def writes(self) -> bool:
        """Whether the call changes a tensor, so that it counts even where nothing reads its output."""
        return self.overload is not None and any(
            one.alias_info is not None and one.alias_info.is_write for one in self.overload._schema.arguments
        )

    def inputs(self) -> Iterator[Value]:
        """Return the values that the call reads."""
        yield from values_in((self.args, self.kwargs))


def values_in(given: Any) -> Iterator[Value]:
    """Return the values within nested arguments, in order."""
    if isinstance(given, Value):
        yield given
    elif isinstance(given, Number):
        yield given.value
    elif isinstance(given, (list, tuple)):
        for one in given:
            yield from values_in(one)
    elif isinstance(given, dict):
        for one in given.values():
            yield from values_in(one)
