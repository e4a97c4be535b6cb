"""The tracer of programs that run on tensors: modules are run through, and tensors it does not know become constants."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch.fx import Tracer
from mindtorch.fx.experimental._proxy_mode import disable_proxy_modes_tracing
from mindtorch.fx.experimental._proxy_tracking import extract_val, get_proxy_slot, track_tensor_tree
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule, _make_graph_module
from mindtorch.fx.node import Node
from mindtorch.fx.proxy import Proxy
from mindtorch.nn import Module, Parameter
from mindtorch.utils._pytree import tree_flatten, tree_map_only
from mindtorch.utils.weak import WeakTensorKeyDictionary


class PythonKeyTracer(Tracer):
    """Records a program that runs: the modules it calls leave no trace, what it does with tensors does."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self.tensor_tracker: Any = WeakTensorKeyDictionary()

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the module gives."""
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return a module's attribute as it is."""
        return attr_val

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node; parameters and tensors that nothing stands for are kept by the root."""
        if isinstance(a, Parameter):
            name = next((name for name, one in self.root.named_parameters() if one is a), None)
            if name is None:
                name = self.get_fresh_qualname("_param_constant")
                setattr(self.root, name, a)
            return self._kept(self.create_node("get_attr", name, (), {}), a)
        made = super().create_arg(a)
        return self._kept(made, a) if isinstance(a, torch.Tensor) else made

    def _kept(self, node: Node, value: torch.Tensor) -> Node:
        node.meta["val"] = extract_val(value)
        return node

    def unwrap_proxy(self, e: Any) -> Any:
        """Return the proxy of a tensor, anything else as it is."""
        return get_proxy_slot(e, self, e, lambda found: found.proxy) if isinstance(e, torch.Tensor) else e


class _ModuleStackTracer(PythonKeyTracer):
    """Notes of every node in which submodule of the root it was made."""

    def __init__(self, scope_root: Module) -> None:
        super().__init__()
        self.scope_root = scope_root
        self.module_stack = collections.OrderedDict()
        self._paths = {id(module): name for name, module in scope_root.named_modules()}

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what the module gives; nodes made on the way know its path."""
        if id(m) not in self._paths:
            return forward(*args, **kwargs)
        path = self._paths[id(m)]
        calls = self.num_calls.get(path, 0)
        key = f"{path}@{calls}" if calls else path
        kind = type(m)
        self.num_calls[path] = calls + 1
        self.module_stack[key] = (path, f"{kind.__module__}.{kind.__qualname__}")
        try:
            return forward(*args, **kwargs)
        finally:
            self.module_stack.popitem()


def fake_signature(fn: Callable[..., Any], nargs: int) -> Callable[..., Any]:
    """Return `fn` with `nargs` parameters of their own names, for functions that take any number."""
    names = ",".join(f"arg{place}" for place in range(nargs))
    made: Callable[..., Any] = eval(f"lambda {names}: fn({names})", {"fn": fn})
    return made


def wrap_key(f: Callable[..., Any], tensors: tuple[Any, ...], tracer: Any, mode: Any) -> Callable[..., Any]:
    """Return a function of proxies which runs `f` on `tensors`, each proxy standing for one, and returns proxies.

    Args:
        mode: the mode that records.
    """
    leaves, _ = tree_flatten(tensors)

    @functools.wraps(f)
    def wrapped(*proxies: Any) -> Any:
        placed, _ = tree_flatten(proxies)
        if len(placed) != len(leaves):
            raise AssertionError(f"Expected {len(leaves)} proxies, got {len(placed)}")
        with disable_proxy_modes_tracing():
            track_tensor_tree(leaves, placed, constant=None, tracer=tracer)
        made = f(*tensors)
        mode.finish()
        return tree_map_only(torch.Tensor, tracer.unwrap_proxy, made)

    return wrapped


def dispatch_trace(
    root: Module | Callable[..., Any], tracer: Tracer, concrete_args: tuple[Any, ...] | None = None
) -> GraphModule:
    """Return the module of the graph that `tracer` records while it runs `root`."""
    graph: Graph = tracer.trace(root, concrete_args)  # type: ignore[arg-type]  # positions stand for names
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


__all__ = ["Proxy", "PythonKeyTracer", "dispatch_trace", "fake_signature", "wrap_key"]
