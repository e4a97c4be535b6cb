"""`torch.fx.passes.backends.cudagraphs`: the parts of a graph whose tensors are all on a CUDA device."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.fake_tensor_prop import FakeTensorProp
from mindtorch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from mindtorch.fx.passes.operator_support import OperatorSupport
from mindtorch.fx.passes.tools_common import CALLABLE_NODE_OPS
from mindtorch.nn import Module
from mindtorch.utils._pytree import tree_leaves

__all__ = ["CudaGraphsSupport", "partition_cudagraphs"]


class CudaGraphsSupport(OperatorSupport):
    """Supports nodes that take and give tensors on CUDA devices alone."""

    def is_node_supported(self, submodules: Mapping[str, Module], node: Node) -> bool:
        """Return whether every tensor of the node, as fake tensor propagation noted it, is on a CUDA device."""
        if node.op not in CALLABLE_NODE_OPS or node.target is torch.ops.aten.embedding_dense_backward.default:
            return False
        if node.target is operator.getitem:
            return True
        values = [_value(one.meta) for one in (*node.all_input_nodes, node)]
        return all(one.device.type == "cuda" for one in tree_leaves(values) if isinstance(one, torch.Tensor))


def _value(meta: dict[str, Any]) -> Any:
    return meta["val"] if "val" in meta else meta["fake_result"]


def partition_cudagraphs(gm: GraphModule, inputs: Sequence[Any]) -> GraphModule:
    """Put the parts of a program that run on CUDA devices alone into submodules, and return the module."""
    FakeTensorProp(gm).propagate(*inputs)
    partitioner = CapabilityBasedPartitioner(gm, CudaGraphsSupport(), allows_single_node_partition=True)
    return partitioner.partition_and_fuse()


adopt(globals())
