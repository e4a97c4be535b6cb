"""What names mean while a function is compiled: values of the graph, and things that exist only while it is compiled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .graph import Value
from .types import Type


@dataclass(frozen=True)
class PythonObject:
    """Something of Python: a module, a function, a class. `path` says how it was reached."""

    held: Any
    path: str = ""


@dataclass(frozen=True)
class Operator:
    """An operator by its name."""

    name: str
    namespace: str = "aten"


@dataclass(frozen=True)
class Method:
    """A method of a value."""

    owner: Value
    name: str


@dataclass(frozen=True)
class ModuleValue:
    """A module of the program: its class in the code, and the value that is it."""

    kind: Any
    value: Value


@dataclass(frozen=True)
class Parts:
    """Several things that a loop runs over while it is compiled: modules of a list, pairs of names and modules."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Counted:
    """What a loop of the graph runs over: how often, and what it gives at each turn."""

    length: Any
    item: Any
    is_range: bool = False


@dataclass(frozen=True)
class Missing:
    """A variable that only one path sets."""

    why: str
    certain: bool = False


class Scope:
    """The variables of a block, with those of the blocks around it."""

    def __init__(self, names: dict[str, Any] | None = None, declared: dict[str, Type] | None = None) -> None:
        self.names: dict[str, Any] = names or {}
        self.declared: dict[str, Type] = declared or {}
        self.outer: dict[str, Type] = {}
        self.raises = False

    def inner(self) -> Scope:
        """Return the scope of a block inside."""
        made = Scope(dict(self.names), dict(self.declared))
        made.outer = {name: self.declared.get(name, one.kind) for name, one in self.names.items()
                      if isinstance(one, Value)}  # fmt: skip
        return made


@dataclass
class Condition:
    """A condition: its value or the constant that it is, and the types that names have where it holds or does not."""

    value: Any
    holds: dict[str, Type] = field(default_factory=dict)
    fails: dict[str, Type] = field(default_factory=dict)

    @property
    def known(self) -> bool | None:
        """Whether it holds, where that is known while the function is compiled."""
        if isinstance(self.value, bool):
            return self.value
        node = self.value.node
        if node is not None and node.name == "prim::Constant":
            return bool(node.shown["value"])
        return None
