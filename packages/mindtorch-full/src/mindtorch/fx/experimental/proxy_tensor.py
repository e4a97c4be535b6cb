"""`torch.fx.experimental.proxy_tensor`: graphs of aten's operators, recorded while a program runs on tensors."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._naming import adopt
from mindtorch._subclasses.fake_tensor import FakeTensorMode, is_fake, maybe_get_fake_mode
from mindtorch.fx.experimental._proxy_mode import (
    Decompositions,
    ProxyTorchDispatchMode,
    decompose,
    disable_proxy_modes_tracing,
    get_innermost_proxy_mode,
    get_proxy_mode,
    maybe_handle_decomp,
    proxy_call,
)
from mindtorch.fx.experimental._proxy_tracking import (
    extract_val,
    fetch_object_proxy,
    get_proxy_slot,
    has_proxy_slot,
    py_sym_types,
    set_meta,
    set_proxy_slot,
    snapshot_fake,
    track_tensor,
    track_tensor_tree,
)
from mindtorch.fx.experimental._python_key_tracer import (
    PythonKeyTracer,
    _ModuleStackTracer,
    dispatch_trace,
    fake_signature,
    wrap_key,
)
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.utils._python_dispatch import _get_current_dispatch_mode_stack
from mindtorch.utils._pytree import tree_flatten, tree_map, tree_map_only

__all__ = [
    "DecompositionInterpreter",
    "PythonKeyTracer",
    "dispatch_trace",
    "get_innermost_proxy_mode",
    "get_proxy_mode",
    "handle_sym_dispatch",
    "make_fx",
    "maybe_disable_thunkify",
    "maybe_enable_thunkify",
    "py_sym_types",
]

_MODES = ("real", "fake", "symbolic")


def make_fx(
    f: Callable[..., Any],
    decomposition_table: Decompositions | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
    proxy_module_inputs: bool = False,
    _disable_torch_fn_metadata_mode: bool = False,
) -> Callable[..., GraphModule]:
    """Return a function that runs `f` on its arguments and returns the graph of the operators that ran.

    Tensors of the arguments are the graph's inputs; everything else is as it was in this run: numbers, branches that were
    taken, shapes. Parameters and tensors that `f` finds elsewhere are kept by the graph's module.

    Args:
        decomposition_table: operators that are recorded as what their functions do.
        tracing_mode: "real" runs on the arguments; "fake" on fakes of them, without their data.
        pre_dispatch: record operators as `f` calls them, above autograd, and composed ones whole.
        record_module_stack: note on nodes in which submodule of `f` they were made.
        record_stack_traces: note on nodes the lines of the program that made them.

    Raises:
        AssertionError: an unknown `tracing_mode`.
        NotImplementedError: "symbolic": shapes are never symbols here.
        RuntimeError: while tracing, a value of a traced tensor is asked for.

    >>> from torch.fx.experimental.proxy_tensor import make_fx
    >>> traced = make_fx(lambda x: torch.sin(x).t() + 1)(torch.ones(2, 3))
    >>> [str(node.target) for node in traced.graph.nodes if node.op == "call_function"]
    ['aten.sin.default', 'aten.t.default', 'aten.add.Tensor']
    """
    if tracing_mode not in _MODES:
        raise AssertionError(f'tracing_mode must be one of "real", "fake", "symbolic", got {tracing_mode}')
    if tracing_mode == "symbolic":
        raise NotImplementedError(
            "make_fx: tracing_mode='symbolic' is not offered, shapes are never symbols; use 'fake' or 'real'"
        )
    if proxy_module_inputs:
        raise NotImplementedError("make_fx: proxy_module_inputs is not offered; pass the parameters as arguments")
    trace = _Trace(
        f,
        decomposition_table,
        tracing_mode,
        _allow_non_fake_inputs,
        pre_dispatch,
        record_module_stack,
        record_stack_traces,
        _allow_fake_constant,
        _error_on_data_dependent_ops,
    )

    @functools.wraps(f)
    def wrapped(*args: Any) -> GraphModule:
        return trace.of(args)

    return wrapped


def record(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    module: torch.nn.Module,
    decomposition_table: Decompositions | None = None,
) -> GraphModule:
    """Return the graph of `f`, run on fakes; its nodes say in which submodule of `module` they were made.

    Without a table operators are recorded as `f` calls them, above autograd; with one, below it.
    """
    trace = _Trace(f, decomposition_table, "fake", True, decomposition_table is None, True, True, False, True)
    trace.owner = module
    return trace.of(args)


class _Trace:
    """What one call of `make_fx` was told."""

    def __init__(
        self,
        f: Callable[..., Any],
        table: Decompositions | None,
        tracing_mode: str,
        non_fake: bool,
        pre_dispatch: bool,
        modules: bool,
        lines: bool,
        fake_constant: bool,
        data_dependent: bool,
    ) -> None:
        self.f = f
        self.table = dict(table or {})
        self.table.setdefault(torch.ops.aten.sym_numel.default, torch.numel)
        self.tracing_mode = tracing_mode
        self.non_fake = non_fake
        self.pre_dispatch = pre_dispatch
        self.modules = modules
        self.lines = lines
        self.options = (fake_constant, data_dependent)
        self.owner: Any = getattr(f, "__self__", None) or f

    def of(self, args: tuple[Any, ...]) -> GraphModule:
        """Return the module of the graph of a run on `args`."""
        f = self.f
        tracer = self._tracer()
        with contextlib.ExitStack() as stack:
            if self.tracing_mode == "fake":
                fake_mode = _fake_mode(args, self.non_fake)
                args = tree_map_only(torch.Tensor, fake_mode.from_tensor, args)
                stack.enter_context(fake_mode)
            stack.enter_context(decompose(self.table))
            stack.enter_context(_casts_not_kept())
            mode = ProxyTorchDispatchMode(tracer, self.tracing_mode, self.pre_dispatch, *self.options, self.table)
            stack.enter_context(mode)
            places = tree_map(lambda _: fx.PH, args)
            function = wrap_key(_plain(f, len(args)), args, tracer, mode)
            return dispatch_trace(function, tracer=tracer, concrete_args=tuple(places))

    def _tracer(self) -> PythonKeyTracer:
        made = PythonKeyTracer()
        if self.modules and isinstance(self.owner, torch.nn.Module):
            made = _ModuleStackTracer(self.owner)
        made.record_stack_traces = self.lines
        return made


@contextlib.contextmanager
def _casts_not_kept() -> Iterator[None]:
    """In the block autocast converts anew each time: a graph that runs later has nothing to take conversions from."""
    kept = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(False)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(kept)


def _plain(f: Callable[..., Any], count: int) -> Callable[..., Any]:
    """Return a function whose parameters name the inputs: `f` itself, or one with names of its own."""
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS or inspect.ismethod(f):
        return fake_signature(f, count)
    return f


def _fake_mode(args: tuple[Any, ...], non_fake: bool) -> FakeTensorMode:
    """Return the mode of the fakes among the arguments, the one that is active, or a new one."""
    leaves = [leaf for leaf in tree_flatten(args)[0] if isinstance(leaf, torch.Tensor)]
    active = [mode for mode in _get_current_dispatch_mode_stack() if isinstance(mode, FakeTensorMode)]
    known = [maybe_get_fake_mode(leaf) for leaf in leaves if is_fake(leaf)]
    found = next((mode for mode in (*known, *active) if mode is not None), None)
    return found or FakeTensorMode(allow_fallback_kernels=True, allow_non_fake_inputs=non_fake, static_shapes=True)


def get_isolated_graphmodule(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tracing_mode: str = "real",
    decomposition_table: Decompositions | None = None,
) -> GraphModule:
    """Return the graph of a call, traced on its own: a trace that is under way does not see it.

    Its inputs are the leaves of `(args, kwargs)`.
    """
    leaves, spec = tree_flatten((args, kwargs))

    def wrapped(*flat: Any) -> Any:
        inner, named = torch.utils._pytree.tree_unflatten(list(flat), spec)
        return func(*inner, **named)

    with disable_proxy_modes_tracing():
        return make_fx(wrapped, decomposition_table=decomposition_table, tracing_mode=tracing_mode)(*leaves)


class DecompositionInterpreter(fx.Interpreter):
    """Runs a graph and writes what it does into another one, with decompositions in force."""

    def __init__(
        self,
        module: GraphModule,
        new_graph: fx.Graph,
        decomposition_table: Decompositions | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(module, **kwargs)
        self.new_graph = new_graph
        self.tracer = PythonKeyTracer()
        self.tracer.graph = new_graph
        self.tracer.root = module
        self.decomposition_table = dict(decomposition_table or {})
        self.mode = ProxyTorchDispatchMode(self.tracer, tracing_mode="real")

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return an input, which becomes one of the new graph."""
        value = super().placeholder(target, args, kwargs)
        track_tensor_tree(
            value, fx.Proxy(self.new_graph.placeholder(target), self.tracer), constant=None, tracer=self.tracer
        )
        return value

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return an attribute, which the new graph fetches, too."""
        value = super().get_attr(target, args, kwargs)
        track_tensor_tree(
            value, fx.Proxy(self.new_graph.get_attr(target), self.tracer), constant=None, tracer=self.tracer
        )
        return value

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """Return the result, which the new graph returns, too."""
        value = super().output(target, args, kwargs)
        proxies = tree_map_only(torch.Tensor, self.tracer.unwrap_proxy, value)
        self.new_graph.output(tree_map_only(fx.Proxy, lambda proxy: proxy.node, proxies))
        return value

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the graph gives."""
        with decompose(self.decomposition_table), self.mode:
            return super().run(*args, **kwargs)


def handle_sym_dispatch(func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Record a call on symbols; raises RuntimeError where nothing is traced.

    Shapes are never symbols here, so that there is nothing to record and the call is made.
    """
    mode = get_innermost_proxy_mode()
    if mode is None:
        raise RuntimeError("handle_sym_dispatch: no graph is being recorded")
    with disable_proxy_modes_tracing():
        return func(*args, **kwargs)


@contextlib.contextmanager
def maybe_enable_thunkify() -> Iterator[None]:
    """Run the block; sizes are numbers, so that nothing is left for later."""
    yield


@contextlib.contextmanager
def maybe_disable_thunkify() -> Iterator[None]:
    """Run the block; sizes are numbers, so that nothing is left for later."""
    yield


def is_sym_node(node: Node) -> bool:
    """Return whether a node's value is a symbol."""
    if "val" not in node.meta:
        raise AssertionError("All nodes traced by proxy_tensor should have meta")
    return isinstance(node.meta["val"], py_sym_types)


INNER = (
    extract_val,
    fetch_object_proxy,
    get_proxy_slot,
    has_proxy_slot,
    maybe_handle_decomp,
    proxy_call,
    set_meta,
    set_proxy_slot,
    snapshot_fake,
    track_tensor,
)
"""Functions that others find here and that stand in the files below."""

adopt(globals())
