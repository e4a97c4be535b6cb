"""`torch.fx.passes.utils.common`: modules for parts of graphs."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.passes.utils.matcher_utils import SubgraphMatcher
from mindtorch.nn import Module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]


@compatibility(is_backward_compatible=False)
class HolderModule(Module):
    """A module that holds others by their names.

    >>> from torch.fx.passes.utils.common import HolderModule
    >>> [name for name, _ in HolderModule({"relu": torch.nn.ReLU()}).named_children()]
    ['relu']
    """

    def __init__(self, d: dict[str, Module | None]) -> None:
        super().__init__()
        for name, held in d.items():
            self.add_module(name, held)


@compatibility(is_backward_compatible=False)
def lift_subgraph_as_module(
    gm: GraphModule, subgraph: Graph, comp_name: str = "", class_name: str = "GraphModule"
) -> tuple[GraphModule, dict[str, str]]:
    """Return a module for a graph of nodes copied from `gm`, with the modules and attributes of `gm` that they name.

    The dict tells for each such name what it is called below `comp_name`.
    """
    root: Any = HolderModule({})
    renamed: dict[str, str] = {}
    for node in subgraph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        if not isinstance(node.target, str):
            raise AssertionError(f"Expected str target, got {type(node.target)}")
        *path, last = node.target.split(".")
        held: Any = root
        source: Any = gm
        for name in path:
            if not hasattr(held, name):
                held.add_module(name, HolderModule({}))
            held, source = getattr(held, name), getattr(source, name)
        setattr(held, last, getattr(source, last))
        renamed[node.target] = f"{comp_name}.{node.target}"
    return GraphModule(root, subgraph, class_name), renamed


@compatibility(is_backward_compatible=False)
def compare_graphs(left: Graph, right: Graph) -> bool:
    """Return whether two graphs have the same nodes, connected alike, with inputs and outputs in the same order."""
    return bool(SubgraphMatcher(left, match_output=True, match_placeholder=True).match(right))


adopt(globals())
