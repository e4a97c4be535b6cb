"""`torch._dynamo.explain`: how many graphs a call gives, what is in them, and why each but the last ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from mindtorch._dynamo._backends import Compiled
from mindtorch._dynamo._breaks import GraphCompileReason
from mindtorch.nn import Module


@dataclasses.dataclass
class ExplainOutput:
    """What is known of the graphs of a call."""

    graphs: list[Any]
    graph_count: int
    graph_break_count: int
    break_reasons: list[GraphCompileReason]
    op_count: int
    ops_per_graph: list[Any] | None = None
    out_guards: list[Any] | None = None
    compile_times: str | None = None

    def __str__(self) -> str:
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for number, one in enumerate(self.break_reasons, 1):
            lines += [f"  Break Reason {number}:", f"    Reason: {one.reason}", "    User Stack:"]
            lines += [f"      {frame}" for frame in one.user_stack]
        if self.ops_per_graph is not None:
            lines.append("Ops per Graph:")
            for number, ops in enumerate(self.ops_per_graph, 1):
                lines += [f"  Ops {number}:", *(f"    {op}" for op in ops)]
        return "\n".join(lines) + "\n"


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Return the function that is called with the arguments, or, where these are given, what it tells."""

    def inner(*args: Any, **kwargs: Any) -> ExplainOutput:
        graphs: list[Any] = []

        def keep(graph: Any, inputs: list[Any]) -> Any:
            graphs.append(graph)
            return graph.forward

        function = f.__call__ if isinstance(f, Module) else f
        function = getattr(function, "_torchdynamo_orig_callable", function)
        compiled = Compiled(function, keep, False, None, getattr(f, "__name__", "f"))
        compiled(*args, **kwargs)
        ops = [[node.target for node in graph.graph.nodes if node.op in _CALLS] for graph in graphs]
        functions = [[node.target for node in graph.graph.nodes if node.op == "call_function"] for graph in graphs]
        return ExplainOutput(
            graphs, len(graphs), len(graphs) - 1, compiled.breaks, sum(map(len, functions)), functions if ops else []
        )

    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


_CALLS = ("call_function", "call_method", "call_module")

for _one in (ExplainOutput,):
    _one.__module__ = "torch._dynamo.backends.debugging"
