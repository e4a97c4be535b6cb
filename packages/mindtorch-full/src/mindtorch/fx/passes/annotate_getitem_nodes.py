"""`torch.fx.passes.annotate_getitem_nodes`: the types of items of values whose types are known."""

from __future__ import annotations

import operator
import typing
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx.graph import Graph

__all__ = ["annotate_getitem_nodes"]


def annotate_getitem_nodes(graph: Graph) -> None:
    """Give each node that takes an item of a tuple, list or named tuple the item's type, where the value's is known."""
    for node in graph.nodes:
        if node.target is operator.getitem:
            sequence, index = node.args
            if sequence.type:
                node.type = _item_type(sequence.type, index, node.type)


def _item_type(kind: Any, index: Any, known: Any) -> Any:
    origin = typing.get_origin(kind)
    items = typing.get_args(kind)
    if origin is tuple:
        if len(items) == 2 and items[1] is ...:
            return items[0]
        if len(items) <= index:
            raise AssertionError(f"Index {index} out of range for parameterized_types (len={len(items)})")
        return items[index]
    if origin is list:
        if len(items) != 1:
            raise AssertionError(f"Expected 1 parameterized type, got {len(items)}")
        return items[0]
    if origin is None and hasattr(kind, "__annotations__") and kind is not torch.Tensor:
        return kind.__annotations__[kind._fields[index]]
    return known


adopt(globals())
