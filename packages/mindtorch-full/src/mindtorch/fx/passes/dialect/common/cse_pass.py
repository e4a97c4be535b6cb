"""`torch.fx.passes.dialect.common.cse_pass`: computing the same thing once."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.infra.pass_base import PassBase, PassResult
from mindtorch.utils._pytree import tree_flatten

__all__ = ["CSEPass", "get_CSE_banned_ops"]

_RANDOM = """
dropout _fused_dropout _standard_gamma bernoulli multinomial native_dropout normal poisson binomial rrelu rand_like rand
randint randn randperm"""
_INPLACE = "add_ sub_ mul_ div_ pow_ lerp_ relu_ sigmoid_ tanh_"


def _packets(names: str) -> set[Any]:
    return {getattr(torch.ops.aten, name) for name in names.split() if hasattr(torch.ops.aten, name)}


rand_ops = _packets(_RANDOM)
inplace_ops = _packets(_INPLACE)


@compatibility(is_backward_compatible=False)
def get_CSE_banned_ops() -> set[Any]:
    """Return the operators that give another value each time, and those that change their argument.

    >>> torch.ops.aten.dropout in torch.fx.passes.dialect.common.cse_pass.get_CSE_banned_ops()
    True
    """
    return rand_ops.union(inplace_ops)


@compatibility(is_backward_compatible=False)
class CSEPass(PassBase):
    """Lets nodes that call the same function with the same arguments be one.

    The graph must be functional but for `banned_ops`, which are left alone.

    >>> from torch.fx.passes.dialect.common.cse_pass import CSEPass
    >>> from torch.fx.experimental.proxy_tensor import make_fx
    >>> graph = make_fx(lambda x: x.sin() + x.sin())(torch.ones(1))
    >>> made = CSEPass()(graph)
    >>> made.modified, sum("sin" in node.name for node in made.graph_module.graph.nodes)
    (True, 1)
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = set() if banned_ops is None else banned_ops
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """Return a new module where anything was found twice, else the module."""
        made = Graph()
        copies: dict[Node, Node] = {}
        known: dict[Any, Node] = {}
        modified = False
        for node in graph_module.graph.nodes:
            key = None
            target = getattr(node.target, "overloadpacket", node.target)
            if node.op not in ("placeholder", "output", "get_attr") and target not in self.banned_ops:
                key = _key(node, copies)
                if key in known:
                    copies[node] = known[key]
                    modified = True
                    continue
            copies[node] = made.node_copy(node, copies.__getitem__)
            if key is not None:
                known[key] = copies[node]
        return PassResult(GraphModule(graph_module, made), True) if modified else PassResult(graph_module, False)


class _Key:
    """A call: its target, and its arguments with the nodes of the new graph. Specs have no hash, so they are compared."""

    def __init__(self, target: Any, leaves: tuple[Any, ...], spec: Any) -> None:
        self.target, self.leaves, self.spec = target, leaves, spec

    def __hash__(self) -> int:
        return hash((self.target, self.leaves))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Key)
            and self.target == other.target
            and self.leaves == other.leaves
            and self.spec == other.spec
        )


def _key(node: Node, copies: dict[Node, Node]) -> _Key:
    leaves, spec = tree_flatten((node.args, node.kwargs))
    return _Key(node.target, tuple(copies[one] if isinstance(one, Node) else one for one in leaves), spec)


adopt(globals())
