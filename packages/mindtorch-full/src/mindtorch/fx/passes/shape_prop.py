"""`torch.fx.passes.shape_prop`: noting the shapes of a graph's values by running it."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter
from mindtorch.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor without its values.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> _ = ShapeProp(graph).propagate(torch.ones(2, 3))
    >>> next(iter(graph.graph.nodes)).meta["tensor_meta"].stride
    (3, 1)
    """

    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: torch.memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: torch.Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """Return what is known of `result`."""
    formats = (torch.contiguous_format, torch.channels_last, torch.channels_last_3d) if include_contiguity else ()
    layout = next((one for one in formats if _is_contiguous(result, one)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), layout, False, {})


def _is_contiguous(tensor: torch.Tensor, layout: torch.memory_format) -> bool:
    rank = {torch.channels_last: 4, torch.channels_last_3d: 5}.get(layout)
    return (rank is None or tensor.dim() == rank) and tensor.is_contiguous(memory_format=layout)


class ShapeProp(Interpreter):
    """Runs a graph and writes into each node's `meta` its value's metadata and type.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> _ = ShapeProp(graph).propagate(torch.ones(2, 3))
    >>> [tuple(node.meta["tensor_meta"].shape) for node in graph.graph.nodes][:2]
    [(2, 3), (2, 3)]
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp(): fake_mode is not offered; pass tensors on the meta device")

    def run_node(self, n: Node) -> Any:
        """Return what a node gives, and note what it is.

        Raises:
            RuntimeError: the node fails.
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def describe(one: Any) -> Any:
            nonlocal found
            if isinstance(one, torch.Tensor):
                found = True
                return _extract_tensor_metadata(one)
            return one

        meta = map_aggregate(result, describe)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on these arguments and return its result."""
        return super().run(*args)


adopt(globals())
