"""`torch.fx.experimental.normalize`: one spelling for calls that mean the same."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx.experimental.schema_type_annotation import AnnotateTypesWithSchema
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Transformer
from mindtorch.fx.node import Node, map_aggregate
from mindtorch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module
from mindtorch.fx.proxy import Proxy

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs(Transformer):
    """Passes arguments as the signatures of functions and modules have them: by name if wanted, with all defaults.

    Where overloads of an operator differ in types alone, `meta["type"]` of nodes tells them apart.

    >>> from torch.fx.experimental.normalize import NormalizeArgs
    >>> graph = NormalizeArgs(torch.fx.symbolic_trace(lambda x: torch.nn.functional.relu(x))).transform()
    >>> [node.kwargs for node in graph.graph.nodes if node.op == "call_function"][0]["inplace"]
    False
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        """Return the traced node with the old one's type and meta."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def kind(one: Any) -> Any:
            return n.meta.get("type") if isinstance(one, Node) else type(one)

        if n.op == "call_function":
            kinds = tuple(create_type_hint(one) for one in map_aggregate(n.args, kind))
            named = {name: kind(one) for name, one in kwargs.items()}
            found = self.call_function(n.target, args, kwargs, kinds, named)
        else:
            found = super().run_node(n)
        if n.op != "output":
            self.node_map[found] = n
            found.node.meta = n.meta
            found.node.type = n.type
        return found

    def call_function(
        self,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        arg_types: tuple[Any, ...] | None = None,
        kwarg_types: dict[str, Any] | None = None,
    ) -> Any:
        """Return the traced call, its arguments as the function has them where that can be told."""
        if not callable(target):
            raise AssertionError(f"Expected callable target, got {type(target)}")
        pair = normalize_function(target, args, kwargs, arg_types, kwarg_types, self.normalize_to_only_use_kwargs)
        if pair:
            return self.tracer.create_proxy("call_function", target, *pair)
        return super().call_function(target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the traced call, its arguments as the module's `forward` has them where that can be told."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected str target, got {type(target)}")
        pair = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        return super().call_module(target, *(pair or (args, kwargs)))


class NormalizeOperators(AnnotateTypesWithSchema):
    """Writes functions that an operator of Python stands for as that operator, `torch.add(a, b)` as `a + b`.

    >>> from torch.fx.experimental.normalize import NormalizeOperators
    >>> graph = NormalizeOperators(torch.fx.symbolic_trace(lambda x: x + 1)).transform()
    >>> [node.target is torch.add for node in graph.graph.nodes if node.op == "call_function"]
    [False]
    """

    binary_magic_method_remap: ClassVar[dict[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
        torch.add: operator.add,
        torch.mul: operator.mul,
        torch.sub: operator.sub,
        torch.div: operator.truediv,
        torch.floor_divide: operator.floordiv,
        torch.remainder: operator.mod,
        torch.eq: operator.eq,
        torch.ne: operator.ne,
        torch.lt: operator.lt,
        torch.le: operator.le,
        torch.gt: operator.gt,
        torch.ge: operator.ge,
    }

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the traced call."""
        if not callable(target):
            raise AssertionError(f"Expected callable target, got {type(target)}")
        if target in self.binary_magic_method_remap and len(args) == 2:
            return super().call_function(self.binary_magic_method_remap[target], args, {})
        return super().call_function(target, args, kwargs)


adopt(globals())
