"""What the parts of a graph ask of each other; the classes themselves are in modules that import those parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol


class GraphLike(Protocol):
    """A graph, as nodes and walks over them see it."""

    owning_module: Any
    _graph_namespace: Any
    _insert: Callable[..., None]
    _len: int
    _ranked: bool
    _root: Any

    @property
    def nodes(self) -> Any:
        """The nodes in order."""

    def _rank_nodes(self) -> None:
        """Number the nodes in order."""


class WriterLike(Protocol):
    """What writes a graph's code, as the statements of single nodes use it."""

    wrapped: dict[str, None]

    def add_global(self, hint: str, obj: Any) -> str:
        """Return the name under which the code finds an object."""

    def type_name(self, kind: Any) -> str:
        """Return how a type is written."""

    def node_name(self, node: Any) -> str:
        """Return the variable of a node."""

    def value(self, arg: Any) -> str:
        """Return how an argument is written."""

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        """Return how a call's arguments are written."""
