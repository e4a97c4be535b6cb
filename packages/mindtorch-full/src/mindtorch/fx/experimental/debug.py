"""`torch.fx.experimental.debug`: stopping in generated code."""

from __future__ import annotations

from collections.abc import Callable

from mindtorch._naming import adopt
from mindtorch.fx.graph_module import GraphModule

__all__ = ["set_trace"]

Lines = list[str]


def set_trace(gm: GraphModule) -> GraphModule:
    """Let the module start the debugger when it runs, and return it."""

    def transformer(current: Callable[[Lines], Lines] | None) -> Callable[[Lines], Lines]:
        return lambda body: ["import pdb; pdb.set_trace()\n", *(current(body) if current else body)]

    with gm.graph.on_generate_code(make_transformer=transformer):
        gm.recompile()
    return gm


adopt(globals())
