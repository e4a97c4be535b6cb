"""The directed graph of what depends on what in a package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class DiGraph:
    """Nodes with attributes, in the order in which they came, and edges between them."""

    def __init__(self) -> None:
        self.nodes: dict[Any, dict[str, Any]] = {}
        self._next: dict[Any, dict[Any, None]] = {}
        self._before: dict[Any, dict[Any, None]] = {}

    def add_node(self, n: Any, **kwargs: Any) -> None:
        """Add a node, or add to the attributes of one."""
        self.nodes.setdefault(n, {}).update(kwargs)
        self._next.setdefault(n, {})
        self._before.setdefault(n, {})

    def add_edge(self, u: Any, v: Any) -> None:
        """Say that `u` depends on `v`; both become nodes."""
        self.add_node(u)
        self.add_node(v)
        self._next[u][v] = None
        self._before[v][u] = None

    def successors(self, n: Any) -> Iterator[Any]:
        """The nodes that this one depends on."""
        return self._neighbours(self._next, n)

    def predecessors(self, n: Any) -> Iterator[Any]:
        """The nodes that depend on this one."""
        return self._neighbours(self._before, n)

    def _neighbours(self, edges: dict[Any, dict[Any, None]], n: Any) -> Iterator[Any]:
        if n not in self:
            raise ValueError(f"The node {n} is not in the digraph.")
        return iter(edges[n])

    @property
    def edges(self) -> Iterator[tuple[Any, Any]]:
        """All edges as pairs."""
        return ((u, v) for u, after in self._next.items() for v in after)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, n: object) -> bool:
        try:
            return n in self.nodes
        except TypeError:  # not hashable, and so no node
            return False

    def _closure(self, src: Iterable[Any], edges: dict[Any, dict[Any, None]]) -> set[Any]:
        # As in torch a name is taken apart into its letters: its callers name nodes by single ones.
        found, waiting = set(src), list(src)
        while waiting:
            for other in self._neighbours(edges, waiting.pop()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def forward_transitive_closure(self, src: str) -> set[Any]:
        """All that can be reached along the edges."""
        return self._closure(src, self._next)

    def backward_transitive_closure(self, src: str) -> set[Any]:
        """All from which one gets here along the edges."""
        return self._closure(src, self._before)

    def all_paths(self, src: str, dst: str) -> Any:
        """The graph of every path from one node to another, in the dot language."""
        paths = DiGraph()
        reached = self.forward_transitive_closure(src)
        if dst not in reached:
            return paths
        waiting, seen = list(dst), set(dst)
        for node in waiting:
            for before in self.predecessors(node):
                if before in reached:
                    paths.add_edge(before, node)
                    if before not in seen:
                        seen.add(before)
                        waiting.append(before)
        return paths.to_dot()

    def first_path(self, dst: str) -> list[Any]:
        """The path by which a node came into the graph: at every step, the predecessor that was added first."""
        order = {node: place for place, node in enumerate(self.nodes)}
        path = [dst]
        while before := self._before[path[0]]:
            first = min(before, key=order.__getitem__)
            if first in path:
                break
            path.insert(0, first)
        return path

    def to_dot(self) -> str:
        """The graph in the dot language."""
        edges = "\n".join(f'"{u}" -> "{v}";' for u, v in self.edges)
        return f"digraph G {{\nrankdir = LR;\nnode [shape=box];\n{edges}\n}}\n"
