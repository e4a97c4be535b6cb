"""`torch.fx.passes.graph_transform_observer`: what a pass made and removed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.graph_drawer import FxGraphDrawer
from mindtorch.fx.traceback import NodeSource, NodeSourceAction

__all__ = ["GraphTransformObserver"]


@compatibility(is_backward_compatible=False)
class GraphTransformObserver:
    """A context in which a pass changes a graph module; draws the graph before and after with what changed marked.

    Args:
        gm: the module.
        passname: the pass.
        subsystem: the part of a program that the pass is of.
        log_url: the folder for the drawings; without it nothing is observed.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.graph_transform_observer import GraphTransformObserver
    >>> with GraphTransformObserver(graph, "clean"):
    ...     graph.graph.eliminate_dead_code()
    False
    """

    __pass_count = 0

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None, log_url: str | None = None
    ) -> None:
        self.gm = gm
        self.passname = passname
        self.subsystem = subsystem
        self.log_url = log_url
        self.active = log_url is not None
        self.erased_nodes: set[str] = set()
        self.created_nodes: set[str] = set()
        self.name_to_node: dict[str, Node] = {}
        self.copied_gms: list[GraphModule] = []
        self._node_creation_hook = self.get_node_creation_hook()
        self._node_erase_hook = self.get_node_erase_hook()
        self._node_replace_hook = self.get_node_replace_hook()
        self._deepcopy_hook = self.get_deepcopy_hook()
        if self.active:
            GraphTransformObserver.__pass_count += 1
            self.input_dot_graph = self._drawn()

    def _drawn(self) -> Any:
        return FxGraphDrawer(
            self.gm, self.passname, ignore_getattr=True, ignore_parameters_and_buffers=True
        ).get_dot_graph()

    @classmethod
    def get_current_pass_count(cls) -> int:
        """Return how many passes were observed."""
        return cls.__pass_count

    def apply_gm_pass(self, pass_fn: Callable[[GraphModule], Any]) -> Any:
        """Return what a pass over the module gives."""
        with self:
            return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Callable[[Graph], Any]) -> Any:
        """Return what a pass over the graph gives."""
        with self:
            return pass_fn(self.gm.graph)

    def __enter__(self) -> GraphTransformObserver:
        if self.active:
            self.gm._register_create_node_hook(self._node_creation_hook)
            self.gm._register_erase_node_hook(self._node_erase_hook)
            self.gm._register_replace_node_hook(self._node_replace_hook)
            self.gm._register_deepcopy_hook(self._deepcopy_hook)
            self.erased_nodes.clear()
            self.created_nodes.clear()
            self.copied_gms.clear()
            self.name_to_node = {node.name: node for node in self.gm.graph.nodes}
        return self

    def __exit__(self, *details: object) -> None:
        if not self.active:
            return
        for gm in (*self.copied_gms, self.gm):
            gm._unregister_create_node_hook(self._node_creation_hook)
            gm._unregister_erase_node_hook(self._node_erase_hook)
            gm._unregister_replace_node_hook(self._node_replace_hook)
            gm._unregister_deepcopy_hook(self._deepcopy_hook)
        if self.created_nodes or self.erased_nodes:
            self._write(self.input_dot_graph, self.erased_nodes, "input")
            self._write(self._drawn(), self.created_nodes, "output")

    def _write(self, drawing: Any, marked: set[str], side: str) -> None:
        for node in drawing.get_node_list():
            colour = "yellow" if node.get_name() in marked else "grey"
            node.obj_dict["attributes"]["fillcolor"] = colour
        name = f"pass_{GraphTransformObserver.__pass_count}_{self.passname}_{side}_graph.dot"
        drawing.write(os.path.join(str(self.log_url), name))

    def get_node_creation_hook(self) -> Callable[[Node], None]:
        """Return what is called with each new node."""

        def on_node_creation(node: Node) -> None:
            self.created_nodes.add(node.name)
            self.name_to_node[node.name] = node
            node.meta.setdefault("from_node", []).append(NodeSource(None, self.passname, NodeSourceAction.CREATE))

        return on_node_creation

    def get_node_erase_hook(self) -> Callable[[Node], None]:
        """Return what is called with each node that is removed."""

        def on_node_erase(node: Node) -> None:
            self.erased_nodes.add(node.name)
            self.name_to_node.pop(node.name, None)

        return on_node_erase

    def get_node_replace_hook(self) -> Callable[[Node, str, Node], None]:
        """Return what is called when a node takes another's place for a user."""

        def on_node_replace(old: Node, new: str, user: Node) -> None:
            made = self.name_to_node.get(new)
            if made is None:
                return
            sources = made.meta.get("from_node", [])
            if old.name in {one.name for one in sources}:
                return
            action = [NodeSourceAction.REPLACE]
            if made.name in self.created_nodes:
                action.append(NodeSourceAction.CREATE)
            # That the node was created in this pass is said by the new source.
            kept = [
                one
                for one in sources
                if not (one.pass_name == self.passname and one.action == [NodeSourceAction.CREATE])
            ]
            made.meta["from_node"] = [*kept, NodeSource(old, self.passname, action)]

        return on_node_replace

    def get_deepcopy_hook(self) -> Callable[[GraphModule], None]:
        """Return what is called with each copy of the module."""
        return self.copied_gms.append


adopt(globals())
