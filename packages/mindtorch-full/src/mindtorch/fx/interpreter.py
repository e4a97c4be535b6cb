"""`torch.fx.interpreter`: running a graph node by node, and making another from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx import traceback as fx_traceback
from mindtorch.fx._symbolic_trace import Tracer
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule, _make_graph_module
from mindtorch.fx.node import Node, map_aggregate, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.nn import Module

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node; subclasses change what a kind of node does.

    Args:
        module: the module with the graph.
        garbage_collect_values: forget a value after its last use.
        graph: another graph to run on the module.

    >>> torch.fx.Interpreter(torch.fx.symbolic_trace(torch.nn.ReLU())).run(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(self.module.named_modules())
        self.graph: Any = graph if graph is not None else self.module.graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for user in reversed(self.graph.nodes):
                for used in user.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(user, []).append(used)

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run the graph and return its result.

        Args:
            initial_env: values of nodes that are not run then.
            enable_io_processing: take and give the containers of the traced program rather than their leaves.

        Raises:
            Whatever a node raises, its text followed by the node's line.
        """
        self.env = initial_env if initial_env is not None else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _add_node(error, node)
                raise
            for used in self.user_to_last_uses.get(node, []):
                del self.env[used]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph on a list of arguments, which is emptied, so that nothing else holds them."""
        wanted = sum(node.op == "placeholder" for node in self.graph.nodes)
        if len(args_list) != wanted:
            what = "missing" if len(args_list) < wanted else "extra"
            raise RuntimeError(
                f"Interpreter.boxed_run expected {wanted} arguments for placeholders but received {len(args_list)} ({what} "
                "arguments)"
            )
        args = list(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    @contextmanager
    def _set_current_node(self, node: Node) -> Iterator[None]:
        with fx_traceback.set_current_meta(node, f"Interpreter_{type(self).__name__}"):
            yield

    def run_node(self, n: Node) -> Any:
        """Return what a node gives."""
        with self._set_current_node(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    # A method for each op

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of the run, or the default; all that are left for `*args`."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as error:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from error

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return an attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a function gives."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a method of the first argument gives."""
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a submodule gives."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result."""
        return args[0]

    # Values

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute of a dotted name.

        Raises:
            RuntimeError: there is none.
        """
        parts = target.split(".")
        found: Any = self.module
        for end, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: end + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return a node's arguments with values in place of nodes."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return `args`, arguments of `n`, with values in place of nodes."""

        def load(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[used]

        return map_arg(args, load)


def _add_node(error: Exception, node: Node) -> None:
    """Say in an error's text which node raised it."""
    context = f"While executing {node.format_node()}"
    text = f"{error.args[0]}\n\n{context}" if error.args else context
    text += f"\nOriginal traceback:\n{node.stack_trace}"
    text += (
        "\nUse tlparse to see full graph. (https://github.com/pytorch/tlparse?tab=readme-ov-file#"
        "tlparse-parse-structured-pt2-logs)"
    )
    error.args = (text, *error.args[1:])
    if isinstance(error, KeyError):
        raise RuntimeError(*error.args) from error


class _TransformerTracer(Tracer):
    """Traces into a given graph, every module a leaf."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Runs a graph on proxies, and so makes a new one; subclasses change what a kind of node becomes.

    >>> torch.fx.Transformer(torch.fx.symbolic_trace(torch.nn.ReLU())).transform()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return the proxy of a new placeholder."""
        default = next(iter(args)) if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """Return the proxy of an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the proxy of a submodule's result."""
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the proxy of a function's result."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Return the new module."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:

            def strip(one: Any) -> Any:
                return one.node if isinstance(one, Proxy) else one

            output = self.new_graph.output(map_aggregate(result, strip))
            for name, value in self.graph.output_node().meta.items():
                output.meta.setdefault(name, value)
        return _make_graph_module(self.module, self.new_graph)


adopt(globals())
