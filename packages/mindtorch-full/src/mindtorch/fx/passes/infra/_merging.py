"""Joining nodes into parts of a graph, as long as no circle of parts comes of it."""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Iterable

from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node


class _DependencyViewer:
    """The nodes that depend on each node."""

    def __init__(self, graph_module: GraphModule) -> None:
        self.downstreams: dict[Node, set[Node]] = collections.defaultdict(set)
        for node in reversed(graph_module.graph.nodes):
            found = self.downstreams[node]
            for user in node.users:
                found.add(user)
                found |= self.downstreams[user]

    def downstreams_of(self, node: Node) -> set[Node]:
        """Return all nodes that depend on a node."""
        return self.downstreams[node]


class Merging:
    """The parts so far, by number, and what depends on them.

    Attributes:
        nodes: the nodes of each part, with their places.
        owner: the part of each node that is in one.
    """

    def __init__(self, viewer: _DependencyViewer) -> None:
        self.viewer = viewer
        self.nodes: dict[int, dict[Node, int]] = {}
        self.owner: dict[Node, int] = {}
        self._reached: dict[int, set[int]] = {}
        """The parts that depend on each part, as far as was found."""
        self._users: dict[int, set[Node]] = {}
        self._order: dict[int, int] = {}
        self._numbers = itertools.count()

    def open(self, node: Node, order: int) -> int | None:
        """Make a part of one node and return its number; None for a node that is in one."""
        if node in self.owner:
            return None
        number = next(self._numbers)
        self.owner[node] = number
        self.nodes[number] = {node: order}
        self._users[number] = set(node.users)
        self._order[number] = number
        self._reached[number] = self._parts_after(node.users, {number})
        return number

    def by_order(self) -> list[int]:
        """Return the parts, those that reach nearest to the end first."""
        return [number for number, _ in sorted(self._order.items(), key=operator.itemgetter(1))]

    def join(self, numbers: list[int]) -> None:
        """Join each part with the first where that makes no circle."""
        if numbers:
            into = numbers[0]
            for other in numbers[1:]:
                into = self._joined(into, other)

    def _way(self, node: Node) -> Iterable[Node]:
        return itertools.chain((node,), self.viewer.downstreams_of(node))

    def _parts_after(self, users: Iterable[Node], without: set[int]) -> set[int]:
        found: set[int] = set()
        for node in itertools.chain.from_iterable(map(self._way, users)):
            if node in self.owner:
                found.add(self.owner[node])
                found |= self._reached[self.owner[node]]
        return found - without

    def _makes_circle(self, users: set[Node], one: int, other: int) -> bool:
        """Return whether a user of the two parts together leads back into them."""
        seen: set[int] = set()
        for node in itertools.chain.from_iterable(map(self._way, users)):
            if node in self.nodes[one] or node in self.nodes[other]:
                return True
            number = self.owner.get(node)
            if number is None or number in seen:
                continue
            seen.add(number)
            if one in self._reached[number] or other in self._reached[number]:
                return True
        return False

    def _joined(self, one: int, other: int) -> int:
        """Join two parts unless that makes a circle, and return the number of what the first is now in."""
        users = (self._users[one] | self._users[other]).difference(self.nodes[one], self.nodes[other])
        if self._makes_circle(users, one, other):
            return one
        kept, gone = (other, one) if len(self.nodes[one]) < len(self.nodes[other]) else (one, other)
        moved = self.nodes.pop(gone)
        self.nodes[kept].update(moved)
        self.owner.update(dict.fromkeys(moved, kept))
        self._order[kept] = min(self._order[kept], self._order.pop(gone))
        del self._users[gone]
        self._users[kept] = users
        self._reached[kept] |= self._reached.pop(gone) | self._parts_after(users, {kept, gone})
        self._reached[kept] -= {kept, gone}
        return kept
