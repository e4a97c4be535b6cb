"""`torch.fx.experimental.optimization`: programs made faster for inference."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from mindtorch import fx, nn
from mindtorch._naming import adopt
from mindtorch.fx.node import Node
from mindtorch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

__all__ = [
    "MklSubgraph",
    "UnionFind",
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "optimize_for_inference",
    "remove_dropout",
    "replace_node_module",
    "reset_modules",
    "use_mkl_length",
]

_FUSED = (
    (nn.Conv1d, nn.BatchNorm1d, fuse_conv_bn_eval),
    (nn.Conv2d, nn.BatchNorm2d, fuse_conv_bn_eval),
    (nn.Conv3d, nn.BatchNorm3d, fuse_conv_bn_eval),
    (nn.Linear, nn.BatchNorm1d, fuse_linear_bn_eval),
)


def _parent_name(target: str) -> tuple[str, str]:
    """Return the dotted name of a module's owner, and the module's name there."""
    parent, _, name = target.rpartition(".")
    return parent, name


def matches_module_pattern(pattern: Iterable[type], node: Node, modules: dict[str, nn.Module]) -> bool:
    """Return whether a node calls a module of the second class on what a module of the first class gave."""
    if not node.args:
        return False
    for wanted, one in zip(pattern, (node.args[0], node), strict=False):
        if not isinstance(one, Node) or one.op != "call_module" or one.target not in modules:
            return False
        if type(modules[one.target]) is not wanted:
            return False
    return True


def replace_node_module(node: Node, modules: dict[str, nn.Module], new_module: nn.Module) -> None:
    """Put a module in the place of the one that a node calls, in `modules` and in its owner there."""
    if not isinstance(node.target, str):
        raise AssertionError(f"Expected str target, got {type(node.target)}")
    parent, name = _parent_name(node.target)
    modules[node.target] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: nn.Module, inplace: bool = False, no_trace: bool = False) -> nn.Module:
    """Return the traced model with each batch normalization folded into the convolution or linear layer before it.

    The model must be in evaluation mode.

    Args:
        inplace: change the model's layers, not those of a copy.
        no_trace: `model` is a graph module; do not trace it again.

    >>> from torch.fx.experimental.optimization import fuse
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1)).eval()
    >>> [type(layer).__name__ for layer in fuse(model).children()]
    ['Conv2d']
    """
    if not inplace:
        model = copy.deepcopy(model)
    traced = model if no_trace and isinstance(model, fx.GraphModule) else fx.symbolic_trace(model)
    modules = dict(traced.named_modules())
    graph = copy.deepcopy(traced.graph)
    for layer, norm, folded in _FUSED:
        for node in graph.nodes:
            if not matches_module_pattern((layer, norm), node, modules) or len(node.args[0].users) > 1:
                continue
            bn: Any = modules[node.target]
            if not bn.track_running_stats:
                continue
            replace_node_module(node.args[0], modules, folded(modules[node.args[0].target], bn))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return fx.GraphModule(traced, graph)


def remove_dropout(model: nn.Module) -> nn.Module:
    """Return the traced model without its dropout layers.

    >>> from torch.fx.experimental.optimization import remove_dropout
    >>> model = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Dropout())
    >>> [node.op for node in remove_dropout(model).graph.nodes]
    ['placeholder', 'call_module', 'output']
    """

    class DropoutRemover(fx.Transformer):
        def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if not isinstance(self.submodules[target], nn.Dropout):
                return super().call_module(target, args, kwargs)
            if len(args) != 1:
                raise AssertionError(f"Expected 1 arg for Dropout, got {len(args)}")
            return args[0]

    return DropoutRemover(fx.symbolic_trace(model)).transform()


def extract_subgraph(
    orig_module: nn.Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> fx.GraphModule:
    """Return a module that runs some nodes of a graph; it takes the values of `inputs` and gives those of `outputs`."""
    graph = fx.Graph()
    copies = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output([copies[node] for node in outputs])
    graph.lint()
    return fx.GraphModule(orig_module, graph)


def reset_modules(
    nodes: Iterable[Node], modules: dict[str, nn.Module], old_modules: dict[nn.Module, nn.Module]
) -> None:
    """Put the old modules back where the nodes call those that replaced them."""
    for node in nodes:
        if node.op == "call_module":
            if not isinstance(node.target, str):
                raise AssertionError(f"Expected str target, got {type(node.target)}")
            if modules[node.target] in old_modules:
                replace_node_module(node, modules, old_modules[modules[node.target]])


class MklSubgraph:
    """Nodes that would run on oneDNN's layouts together."""

    def __init__(self, fx_graph: fx.Graph) -> None:
        self.fx_graph = fx_graph
        self.nodes: list[Node] = []
        self.start_nodes: list[Node] = []
        self.end_nodes: list[Node] = []


def use_mkl_length(graph: MklSubgraph) -> bool:
    """Return whether there are more than two nodes."""
    return len(graph.nodes) > 2


class UnionFind:
    """Sets of numbers below `n` that can be joined.

    >>> from torch.fx.experimental.optimization import UnionFind
    >>> sets = UnionFind(3)
    >>> for number in range(3):
    ...     sets.make_set(number)
    >>> sets.join(0, 2)
    >>> sets.find(0) == sets.find(2), sets.find(0) == sets.find(1)
    (True, False)
    """

    def __init__(self, n: int) -> None:
        self.parent: list[int | None] = [None] * n
        self.size = [0] * n

    def make_set(self, v: int) -> None:
        """Make a set of one number."""
        self.parent[v] = v
        self.size[v] = 1

    def find(self, v: int) -> int:
        """Return the number that stands for the set of `v`."""
        parent = self.parent[v]
        if parent is None:
            raise AssertionError("Parent is None")
        if parent != v:
            parent = self.parent[v] = self.find(parent)
        return parent

    def join(self, a: int, b: int) -> int | None:
        """Join two sets; return what stands for them where they are one already."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return a
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return None


def optimize_for_inference(
    model: nn.Module, pass_config: dict[str, Any] | None = None, tracer: type[fx.Tracer] = fx.Tracer
) -> nn.Module:
    """Return the traced model for inference: batch normalizations folded, dropout removed.

    Args:
        pass_config: `conv_bn_fuse` and `remove_dropout` switch these off; `mkldnn_layout_optimize`, a dict with a
            `heuristic` or False, is checked. There are no layouts of oneDNN here, so no part of the program gets them.
        tracer: the class that traces the result.

    Raises:
        RuntimeError: `mkldnn_layout_optimize` is neither.
    """
    config = {
        "conv_bn_fuse": True,
        "remove_dropout": True,
        "mkldnn_layout_optimize": {"heuristic": use_mkl_length},
        **(pass_config or {}),
    }
    if config["conv_bn_fuse"]:
        model = fuse(model)
    if config["remove_dropout"]:
        model = remove_dropout(model)
    layouts = config["mkldnn_layout_optimize"]
    if layouts is False:
        return model
    if not isinstance(layouts, dict):
        raise RuntimeError("mkldnn_layout_optimize config is not a dict")
    if "heuristic" not in layouts:
        raise RuntimeError("Heuristic not found in mkldnn_layout_optimize config")
    made = tracer()
    return fx.GraphModule(model, made.trace(copy.deepcopy(model)))


adopt(globals())
