"""Operators of graphs whose arguments change between runs: `NpuGraphOpHandler`, and those that are known."""

from mindtorch.npu._npugraph_handlers.dispatch import GraphDispatchMode, GraphDispatchRecord
from mindtorch.npu._npugraph_handlers.npugraph_handler import NpuGraphOpHandler, register_npu_graph_handler

__all__ = ["GraphDispatchMode", "GraphDispatchRecord", "NpuGraphOpHandler", "register_npu_graph_handler"]
