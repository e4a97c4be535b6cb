"""`torch.fx`: programs as graphs that can be read, changed and run."""

from mindtorch._naming import adopt
from mindtorch.fx import (
    graph,
    graph_module,
    immutable_collections,
    interpreter,
    node,
    proxy,
    subgraph_rewriter,
    traceback,
)
from mindtorch.fx._symbolic_trace import (
    PH,
    ProxyableClassMeta,
    Tracer,
    symbolic_trace,
    wrap,
)
from mindtorch.fx.graph import CodeGen, Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter, Transformer
from mindtorch.fx.node import Node, has_side_effect, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "graph",
    "graph_module",
    "has_side_effect",
    "immutable_collections",
    "interpreter",
    "map_arg",
    "node",
    "proxy",
    "replace_pattern",
    "subgraph_rewriter",
    "symbolic_trace",
    "traceback",
    "wrap",
]

adopt(globals())
