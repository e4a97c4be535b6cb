"""Walking the nodes of a graph, and the place where new ones go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.fx._protocols import GraphLike
from mindtorch.fx.node import Node


class _node_list:
    """The nodes of a graph from its first to its last, or back."""

    def __init__(self, graph: GraphLike, direction: str = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction}")
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        node = getattr(self.graph._root, self.direction)
        while node is not self.graph._root:
            # A node that is erased meanwhile still knows the next one, so that the walk goes on from it.
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_next" if self.direction == "_prev" else "_prev")


_node_list.__module__ = "torch.fx.graph"


class _InsertPoint:
    """A place for new nodes, until the context is left."""

    def __init__(self, graph: GraphLike, new_insert: Callable[..., None]) -> None:
        self.graph = graph
        self.orig_insert, graph._insert = graph._insert, new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        self.graph._insert = self.orig_insert
