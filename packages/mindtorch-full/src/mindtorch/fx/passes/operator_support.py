"""`torch.fx.passes.operator_support`: which nodes a backend can run."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.node import Node
from mindtorch.fx.passes.shape_prop import TensorMetadata
from mindtorch.fx.passes.tools_common import CALLABLE_NODE_OPS, get_node_target
from mindtorch.nn import Module

__all__ = ["OpSupports", "OperatorSupport", "OperatorSupportBase", "any_chain", "chain", "create_op_support"]

TargetTypeName = str
SupportedArgumentDTypes = tuple[Sequence[Sequence[torch.dtype]], dict[str, Sequence[torch.dtype]]] | None
SupportDict = Mapping[TargetTypeName, SupportedArgumentDTypes]
IsNodeSupported = Callable[[Mapping[str, Module], Node], bool]


@compatibility(is_backward_compatible=False)
class OperatorSupportBase(abc.ABC):
    """Says of a node whether a backend can run it.

    >>> from torch.fx.passes.operator_support import OperatorSupportBase
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> class Calls(OperatorSupportBase):
    ...     def is_node_supported(self, modules, node):
    ...         return node.op == "call_function"
    >>> [Calls().is_node_supported({}, node) for node in graph.graph.nodes]
    [False, True, True, True, False]
    """

    @abc.abstractmethod
    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Return whether the backend can; `submodules` are the graph module's by name."""
        raise NotImplementedError


@compatibility(is_backward_compatible=False)
class OperatorSupport(OperatorSupportBase):
    """Supports the targets of a table, for arguments of the dtypes that it names.

    A row is None where any dtype will do, else the dtypes for each positional argument, None for any, and for arguments by
    name. What is called and has no row is not supported; other nodes are.

    >>> from torch.fx.passes.operator_support import OperatorSupport
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> found = OperatorSupport({"torch.relu": None})
    >>> [node.name for node in graph.graph.nodes if found.is_node_supported({}, node)]
    ['x', 'relu', 'output']
    """

    _support_dict: SupportDict

    def __init__(self, support_dict: SupportDict | None = None) -> None:
        self._support_dict = support_dict or {}

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Return whether the table has the node's target and allows its arguments."""
        if node.op not in CALLABLE_NODE_OPS:
            return True
        target = get_node_target(submodules, node)
        if target not in self._support_dict:
            return False
        row = self._support_dict[target]
        if row is None:
            return True
        by_position, by_name = row
        pairs: list[tuple[Any, Any]] = list(zip(node.args, by_position, strict=False))
        pairs = [pair for pair in pairs if pair[1] is not None]
        pairs += [(node.kwargs[name], dtypes) for name, dtypes in by_name.items() if name in node.kwargs]
        return all(_get_arg_dtype(one) in dtypes for one, dtypes in pairs if isinstance(one, Node))


@compatibility(is_backward_compatible=False)
def create_op_support(is_node_supported: IsNodeSupported) -> OperatorSupportBase:
    """Return an `OperatorSupportBase` that asks a function.

    >>> from torch.fx.passes.operator_support import create_op_support
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> found = create_op_support(lambda modules, node: node.op == "call_function")
    >>> [found.is_node_supported({}, node) for node in graph.graph.nodes]
    [False, True, True, True, False]
    """

    class FunctionalOperatorSupport(OperatorSupportBase):
        def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
            return is_node_supported(submodules, node)

    return FunctionalOperatorSupport()


@compatibility(is_backward_compatible=False)
def chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return the support of what all of these support.

    >>> from torch.fx.passes.operator_support import chain, create_op_support
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> yes, no = create_op_support(lambda m, n: True), create_op_support(lambda m, n: False)
    >>> chain(yes, no).is_node_supported({}, next(iter(graph.graph.nodes)))
    False
    """
    return create_op_support(lambda submods, node: all(one.is_node_supported(submods, node) for one in op_support))


@compatibility(is_backward_compatible=False)
def any_chain(*op_support: OperatorSupportBase) -> OperatorSupportBase:
    """Return the support of what any of these supports.

    >>> from torch.fx.passes.operator_support import any_chain, create_op_support
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> yes, no = create_op_support(lambda m, n: True), create_op_support(lambda m, n: False)
    >>> any_chain(yes, no).is_node_supported({}, next(iter(graph.graph.nodes)))
    True
    """
    return create_op_support(lambda submods, node: any(one.is_node_supported(submods, node) for one in op_support))


@compatibility(is_backward_compatible=False)
class OpSupports:
    """Supports to combine with `chain`.

    >>> from torch.fx.passes.operator_support import OpSupports, create_op_support
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> not_relu = OpSupports.decline_if_node_in_names({"relu"})
    >>> [node.name for node in graph.graph.nodes if not_relu.is_node_supported({}, node)]
    ['x', 'add', 'mul', 'output']
    """

    @classmethod
    def decline_if_input_dtype(cls, dtype: torch.dtype) -> OperatorSupportBase:
        """Return the support of nodes without an input of that dtype."""
        return create_op_support(
            lambda submodules, node: all(_get_arg_dtype(one) != dtype for one in node.all_input_nodes)
        )

    @classmethod
    def decline_if_node_in_names(cls, disallow_set: set[str]) -> OperatorSupportBase:
        """Return the support of nodes that are not called so."""
        return create_op_support(lambda submodules, node: node.name not in disallow_set)


def _get_arg_dtype(arg: Node) -> Any:
    """Return a node's dtype as shape propagation noted it; its type where it is no tensor."""
    if not isinstance(arg, Node):
        raise AssertionError(f"Expected torch.fx.Node, got {type(arg)}")
    known = arg.meta.get("tensor_meta")
    return known.dtype if isinstance(known, TensorMetadata) else arg.meta["type"]


adopt(globals())
