"""What shares memory with what in a graph of operators."""

from __future__ import annotations

import operator
from typing import Any

import mindtorch as torch
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.fx.interpreter import Interpreter
from mindtorch.fx.node import Node
from mindtorch.utils._pytree import tree_leaves, tree_map
from mindtorch_dispatch.extend.overloads import OpOverload


def _identity(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def storage_of(node: Node) -> int:
    """Return what stands for the storage of a node's value, a tensor."""
    return _identity(node.meta["fake_result"])


def storages_of(node: Node) -> list[int]:
    """Return what stands for the storages of the tensors in a node's value."""
    return [_identity(one) for one in tree_leaves(node.meta.get("fake_result")) if isinstance(one, torch.Tensor)]


class FakeResults(Interpreter):
    """Runs a graph on fake tensors and notes in each node's `meta` its place, its value and what that is a view of."""

    def run_node(self, n: Node) -> Any:
        """Return what a node gives, and note it."""
        self._place += 1
        result = super().run_node(n)
        n.meta["fake_result"] = result
        n.meta["node_idx"] = self._place
        if n.op == "call_function":
            base = self._base(n)
            if base is not None:
                n.meta["view_of"] = base
                if storage_of(n) != storage_of(base):
                    raise AssertionError("view_storage != base_storage")
        return result

    def _base(self, node: Node) -> Node | None:
        if node.target is operator.getitem:
            return self._bases_of_lists.get(node.args[0])
        if not isinstance(node.target, OpOverload) or not node.target._schema.arguments:
            return None
        alias = node.target._schema.arguments[0].alias_info
        if alias is None or alias.is_write:
            return None
        if "*" in alias.after_set:
            self._bases_of_lists[node] = node.args[0]
            return None
        return node.args[0]

    def propagate(self, *args: Any) -> Any:
        """Run the graph on fake tensors like these arguments, and return its result."""
        self._bases_of_lists: dict[Node, Node] = {}
        self._place = -1
        mode = FakeTensorMode()
        fakes = tree_map(lambda one: mode.from_tensor(one) if isinstance(one, torch.Tensor) else one, list(args))
        with mode:
            return super().run(*fakes)
