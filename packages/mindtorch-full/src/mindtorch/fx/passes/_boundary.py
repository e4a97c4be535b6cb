"""Moving nodes that give no tensor to the part of a graph that uses them."""

from __future__ import annotations

from typing import Any

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.node import Node
from mindtorch.fx.passes.tools_common import CALLABLE_NODE_OPS, is_node_output_tensor


class _Owners:
    """Which of the parts each node is in."""

    def __init__(self, subgraphs: list[Any]) -> None:
        self.of = {node: index for index, part in enumerate(subgraphs) for node in part.nodes}

    def users(self, node: Node) -> list[Node]:
        """Return the users of a node that are in some part."""
        return [one for one in node.users if one.op in CALLABLE_NODE_OPS and one in self.of]

    def inputs(self, node: Node) -> list[Node]:
        """Return the nodes that a node uses and that are in some part."""
        return [one for one in node.all_input_nodes if one.op in CALLABLE_NODE_OPS and one in self.of]

    def leaves(self, node: Node, part: int) -> bool:
        """Return whether a node has a user in another part."""
        return any(self.of[user] != part for user in self.users(node))

    def movable(self, node: Node, here: int, there: int) -> set[Node] | None:
        """Return what must move with a node; None where a third part depends on it."""
        moved: set[Node] = set()
        waiting, seen = [node], {node}
        while waiting:
            current = waiting.pop()
            part = self.of.get(current)
            if part is None or part == there:
                continue
            if part != here:
                return None
            moved.add(current)
            for user in self.users(current):
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
        return moved


@compatibility(is_backward_compatible=False)
def move_non_tensor_nodes_on_boundary(subgraphs: list[Any]) -> None:
    """Move nodes that give no tensor out of accelerated parts, into the one part that uses them, if nothing else does."""
    owners = _Owners(subgraphs)
    for here, part in enumerate(subgraphs):
        if not part.is_acc:
            continue
        queue = [node for node in part.nodes if not is_node_output_tensor(node) and owners.leaves(node, here)]
        seen: set[Node] = set()
        while queue:
            node = queue.pop(0)
            if node in seen:
                continue
            seen.add(node)
            if owners.of.get(node) != here:
                continue
            targets = {owners.of[user] for user in owners.users(node)} - {here}
            if len(targets) != 1:
                print(
                    f"Cannot move non-tensor node {node.name} on boundary because it has children in multiple subgraphs"
                )
                continue
            there = targets.pop()
            moved = owners.movable(node, here, there)
            if moved is None:
                continue
            for one in moved:
                part.nodes.remove(one)
                subgraphs[there].nodes.append(one)
                owners.of[one] = there
                print(
                    f"In order move the non-tensor node {node.name} on boundary, moved node {one.name} from "
                    f"{_kind(part)}_{here} to {_kind(subgraphs[there])}_{there}"
                )
            # What they took from this part is at its edge now.
            queue += [
                used
                for used in owners.inputs(node)
                if not is_node_output_tensor(used) and used not in seen and owners.of[used] == here
            ]


def _kind(part: Any) -> str:
    return "acc" if part.is_acc else "gpu"
