"""Nodes that must run on one backend since they pass each other what is no tensor."""

from __future__ import annotations

from dataclasses import dataclass

from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node

_CALLS = ("call_module", "call_function", "call_method")


@compatibility(is_backward_compatible=False)
class FxNetAccFusionsFinder:
    """Finds groups of accelerated nodes that pass each other what is no tensor; called, gives each node's group.

    Groups with a node that is not accelerated are taken out of `acc_nodes`. Shape propagation must have run.
    """

    def __init__(self, module: GraphModule, acc_nodes: set[Node]) -> None:
        self.module = module
        self.nodes = list(module.graph.nodes)
        self.acc_nodes = acc_nodes
        self.node_index = {node: index for index, node in enumerate(self.nodes)}

    @dataclass
    class FusionGroup:
        """A group in the making."""

        top_node_idx: int
        """The place of its first node."""
        nodes: set[Node]
        inputs: set[Node]
        """Nodes outside that its nodes use."""
        nodes_need_process: set[Node]
        """Nodes whose neighbours were not looked at yet."""

        def add_node(self, node: Node) -> None:
            """Take a node in."""
            if node in self.nodes:
                return
            self.nodes_need_process.add(node)
            self.nodes.add(node)
            self.inputs.discard(node)
            self.inputs |= {one for one in node.all_input_nodes if one.op in _CALLS and one not in self.nodes}

    def recursive_add_node(
        self, fusion_group: FusionGroup, inputs: set[Node] | list[Node], visited: set[Node] | None = None
    ) -> bool:
        """Add the nodes on a way from the group, against the arrows, back into it; return whether there is one."""
        for one in list(inputs):
            if visited is not None:
                if one in visited:
                    continue
                visited.add(one)
            if one.op not in _CALLS or self.node_index[one] < fusion_group.top_node_idx:
                continue
            if one in fusion_group.nodes:
                return True
            if self.recursive_add_node(fusion_group, one.all_input_nodes, visited):
                fusion_group.add_node(one)
                return True
        return False

    def _grow(self, group: FusionGroup) -> None:
        """Take in the neighbours of a node that share something with it that is no tensor."""
        node = group.nodes_need_process.pop()
        self.recursive_add_node(group, group.inputs, visited=set())
        if "tensor_meta" not in node.meta:
            for user in node.users:
                if user.op in _CALLS and user not in group.nodes:
                    group.add_node(user)
                    self.recursive_add_node(group, group.inputs, visited=set())
        for one in node.all_input_nodes:
            if one.op in _CALLS and "tensor_meta" not in one.meta and one not in group.nodes:
                group.add_node(one)
                group.top_node_idx = min(group.top_node_idx, self.node_index[one])
                self.recursive_add_node(group, group.inputs, visited=set())

    def __call__(self) -> dict[Node, set[Node]]:
        """Return the group of each node that is in one."""
        found: dict[Node, set[Node]] = {}
        for node in list(self.acc_nodes):
            if node in found or node not in self.acc_nodes or node.op not in _CALLS or "tensor_meta" in node.meta:
                continue
            group = self.FusionGroup(self.node_index[node], {node}, set(node.all_input_nodes), {node})
            while group.nodes_need_process:
                self._grow(group)
            if group.nodes <= self.acc_nodes:
                found.update(dict.fromkeys(group.nodes, group.nodes))
            else:
                self.acc_nodes -= group.nodes
        return found
