"""`torch._functorch.aot_autograd`: a function's forward and backward as graphs of aten's operators, compiled ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._functorch.compilers import called, nop
from mindtorch._functorch.partitioners import default_partition
from mindtorch._naming import adopt
from mindtorch.fx.experimental.proxy_tensor import make_fx
from mindtorch.nn.utils.stateless import _reparametrize_module
from mindtorch.utils import _pytree as pytree

__all__ = ["aot_function", "aot_module", "aot_module_simplified"]

Compiler = Callable[[fx.GraphModule, list[Any]], Callable[..., Any]]


class _Graphs:
    """The compiled forward and backward of a function of tensors, for the geometry of one call."""

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: list[Any],
        compilers: tuple[Compiler, Compiler],
        partition: Any,
        table: Any,
    ) -> None:
        self.function = function
        self.bw_compiler = compilers[1]
        self.differentiable = [
            at for at, one in enumerate(inputs) if isinstance(one, torch.Tensor) and one.requires_grad
        ]
        self.backward: Any = None
        self.table = table
        example = [_example(one) for one in inputs]
        if not self.differentiable or not torch.is_grad_enabled():
            self.differentiable = []
            graph = make_fx(self._outputs, decomposition_table=table, tracing_mode="fake")(example)
            self._named(graph, len(inputs), 0)
            self.forward = compilers[0](graph, inputs)
            return
        with torch.enable_grad():
            outs = self._outputs_of_fakes(example)
        self.count = len(outs)
        self.tracked = [at for at, one in enumerate(outs) if isinstance(one, torch.Tensor) and one.requires_grad]
        tangents = [torch.ones_like(outs[at], requires_grad=False) for at in self.tracked]
        joint = make_fx(self._joint, decomposition_table=table, tracing_mode="fake")(example, tangents)
        self._named(joint, len(inputs), len(tangents))
        forward, self.backward_graph = partition(joint, (example, tangents), num_fwd_outputs=self.count)
        self.forward = compilers[0](forward, inputs)

    def _outputs(self, primals: list[Any]) -> list[Any]:
        return list(self.function(*primals))

    def _outputs_of_fakes(self, example: list[Any]) -> list[Any]:
        with torch.random.fork_rng(devices=()):
            kept = [one.detach().clone() if isinstance(one, torch.Tensor) else one for one in example]
            for at in self.differentiable:
                kept[at].requires_grad_()
            return self._outputs(kept)

    def _joint(self, primals: list[Any], tangents: list[Any]) -> list[Any]:
        with torch.enable_grad():
            outs = self._outputs(primals)
            wanted = [primals[at] for at in self.differentiable]
            results = [outs[at] for at in self.tracked]
            found = (
                torch.autograd.grad(results, wanted, tangents, allow_unused=True) if results else [None] * len(wanted)
            )
        gradients: list[Any] = [None] * len(primals)
        for at, one in zip(self.differentiable, found, strict=True):
            gradients[at] = one
        return [*outs, *gradients]

    @staticmethod
    def _named(graph: fx.GraphModule, primals: int, tangents: int) -> None:
        places = [node for node in graph.graph.nodes if node.op == "placeholder"]
        names = [f"primals_{at + 1}" for at in range(primals)] + [f"tangents_{at + 1}" for at in range(tangents)]
        for node, name in zip(places, names, strict=True):
            node.name = node.target = name
        graph.graph._codegen = fx.graph.CodeGen()
        graph.recompile()

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        if not self.differentiable:
            return tuple(called(self.forward, list(args)))
        return tuple(_Compiled.apply(self, *args))

    def compiled_backward(self, example: list[Any]) -> Any:
        """Return the backward, which is compiled when it is first called."""
        if self.backward is None:
            self.backward = self.bw_compiler(self.backward_graph, example)
        return self.backward


class _Compiled(torch.autograd.Function):
    """Runs the compiled forward, and its backward when gradients come."""

    @staticmethod
    def forward(ctx: Any, graphs: _Graphs, *args: Any) -> Any:
        outs = list(called(graphs.forward, list(args)))
        saved = outs[graphs.count :]
        ctx.graphs = graphs
        ctx.tensors = [isinstance(one, torch.Tensor) for one in saved]
        ctx.others = [one for one in saved if not isinstance(one, torch.Tensor)]
        ctx.save_for_backward(*(one for one in saved if isinstance(one, torch.Tensor)))
        given = outs[: graphs.count]
        fixed = [one for at, one in enumerate(given) if isinstance(one, torch.Tensor) and at not in graphs.tracked]
        ctx.mark_non_differentiable(*fixed)
        return tuple(given)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        graphs, tensors, others = ctx.graphs, iter(ctx.saved_tensors), iter(ctx.others)
        saved = [next(tensors) if known else next(others) for known in ctx.tensors]
        given = [*saved, *(gradients[at] for at in graphs.tracked)]
        return None, *called(graphs.compiled_backward(given), given)


def _example(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().requires_grad_(value.requires_grad)


def aot_module_simplified(
    mod: Any,
    args: Any,
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Any = default_partition,
    decompositions: Any = None,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | None = None,
    **options: Any,
) -> Callable[..., Any]:
    """Return a function of the tensors `args` that does what `mod` does, by compiled graphs of aten's operators.

    Args:
        mod: a graph's module, or a function of tensors; its parameters are inputs of the graphs.
        fw_compiler, bw_compiler: called with a graph and the inputs of a call, and return what runs in its place; the
            backward's, by default the forward's, is called when gradients are first asked for.
        partition_fn: makes two graphs of that of forward and backward.
        decompositions: operators that are recorded as what their functions do.
    """
    state: dict[str, torch.Tensor] = {}
    if isinstance(mod, torch.nn.Module):
        state.update(mod.named_parameters(remove_duplicate=False))
        state.update(mod.named_buffers(remove_duplicate=False))

    def flat(*given: Any) -> Any:
        if not state:
            return mod(*given)
        values = dict(zip(state, given, strict=False))
        with _reparametrize_module(mod, values):
            return mod(*given[len(state) :])

    inputs = [*state.values(), *args]
    compilers = (fw_compiler, bw_compiler or fw_compiler)
    if inference_compiler is not None and not torch.is_grad_enabled():
        compilers = (inference_compiler, compilers[1])
    graphs = _Graphs(flat, inputs, compilers, partition_fn, decompositions)

    def forward(*given: Any) -> Any:
        return graphs(*state.values(), *given)

    return forward


def aot_function(
    fn: Callable[..., Any],
    fw_compiler: Compiler,
    bw_compiler: Compiler | None = None,
    partition_fn: Any = default_partition,
    decompositions: Any = None,
    **options: Any,
) -> Callable[..., Any]:
    """Return `fn` so that compiled graphs of aten's operators run in its place; they are made at the first call.

    >>> from functorch.compile import aot_function, nop
    >>> aot_function(lambda x: x.cos().cos(), fw_compiler=nop)(torch.zeros(1))
    tensor([0.5403])
    """
    kept: list[Any] = []

    def returned_function(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = pytree.tree_flatten((args, kwargs))
        if not kept:

            def flat(*given: Any) -> Any:
                inner, named = pytree.tree_unflatten(list(given), spec)
                out, out_spec = pytree.tree_flatten(fn(*inner, **named))
                kept[:] = [out_spec]
                return out

            graphs = _Graphs(flat, leaves, (fw_compiler, bw_compiler or fw_compiler), partition_fn, decompositions)
            kept.append(graphs)
        return pytree.tree_unflatten(list(kept[1](*leaves)), kept[0])

    return returned_function


def aot_module(mod: torch.nn.Module, *args: Any, **kwargs: Any) -> torch.nn.Module:
    """Return a module that does what `mod` does, by compiled graphs of aten's operators; it has the parameters of `mod`."""

    def functional(state: dict[str, Any], given: Any, named: Any) -> Any:
        with _reparametrize_module(mod, state):
            return mod(*given, **named)

    compiled = aot_function(functional, *args, **kwargs)

    class AOTModule(torch.nn.Module):
        """The module whose graphs are compiled."""

        def __init__(self) -> None:
            super().__init__()
            self.orig_module = mod

        def forward(self, *given: Any, **named: Any) -> Any:
            state = {**dict(mod.named_parameters()), **dict(mod.named_buffers())}
            return compiled(state, given, named)

    return AOTModule()


compiled_function = aot_function
INNER = (nop,)

adopt(globals())
