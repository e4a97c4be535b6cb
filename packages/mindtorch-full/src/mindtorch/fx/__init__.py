"""`torch.fx`: programs as graphs that can be read, changed and run."""

from mindtorch._naming import adopt
from mindtorch.fx import (
    graph as graph,
)
from mindtorch.fx import (
    graph_module as graph_module,
)
from mindtorch.fx import (
    immutable_collections as immutable_collections,
)
from mindtorch.fx import (
    interpreter as interpreter,
)
from mindtorch.fx import (
    node as node,
)
from mindtorch.fx import (
    proxy as proxy,
)
from mindtorch.fx import (
    subgraph_rewriter as subgraph_rewriter,
)
from mindtorch.fx import (
    traceback as traceback,
)
from mindtorch.fx._symbolic_trace import (
    PH as PH,
)
from mindtorch.fx._symbolic_trace import (
    ProxyableClassMeta as ProxyableClassMeta,
)
from mindtorch.fx._symbolic_trace import (
    Tracer,
    symbolic_trace,
    wrap,
)
from mindtorch.fx.graph import CodeGen as CodeGen
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter, Transformer
from mindtorch.fx.node import Node, has_side_effect, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

adopt(globals())
