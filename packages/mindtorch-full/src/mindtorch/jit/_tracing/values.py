"""What a recording consists of: calls of operators, the values between them, and the module calls that they lie in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch_storage.tensor_base import TensorBase


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
    """A tensor that no call made and no module has, or a function of the program's own that is called."""

    def __init__(self, value: Any) -> None:
        self.value = value


class PythonCall:
    """A call of a `torch.autograd.Function`: its class, and its arguments with places for tensors."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function = function
        self._args = [None if isinstance(one, TensorBase) else one for one in args]
        self._places: list[Any] = [place for place, one in enumerate(args) if isinstance(one, TensorBase)]
        self._kwargs = {name: None if isinstance(one, TensorBase) else one for name, one in kwargs.items()}
        self._places += [name for name, one in kwargs.items() if isinstance(one, TensorBase)]

    def __call__(self, *tensors: Any) -> Any:
        args, kwargs = list(self._args), dict(self._kwargs)
        for place, one in zip(self._places, tensors, strict=True):
            if isinstance(place, int):
                args[place] = one
            else:
                kwargs[place] = one
        return self.function.apply(*args, **kwargs)


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
        self.effects = False
        self.target = ""
        """The function or method that is called, where it is compiled; of a method, the module is the first argument."""
        self.kinds: list[str] = []
        """The types that it declares for its arguments."""

    @property
    def writes(self) -> bool:
        """Whether the call changes a tensor, so that it counts even where nothing reads its output."""
        return self.effects or (
            self.overload is not None
            and any(one.alias_info is not None and one.alias_info.is_write for one in self.overload._schema.arguments)
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
