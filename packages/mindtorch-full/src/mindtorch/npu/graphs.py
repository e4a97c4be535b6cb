"""`torch.npu.graphs`: what a stream is given, recorded once and replayed at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.npu._npugraph_handlers import GraphDispatchMode
from mindtorch_npu import device, memory, runtime
from mindtorch_npu.graphs import NPUGraph as _NPUGraph
from mindtorch_npu.graphs import graph_pool_handle, is_current_stream_capturing
from mindtorch_npu.stream import Stream, StreamContext

__all__ = ["NPUGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]

Tensor = Any


class NPUGraph(_NPUGraph):
    """A recorded graph. Recorded with `auto_dispatch_capture`, arguments of operators that have a handler can be changed.

    >>> graph = torch.npu.NPUGraph()
    >>> x = torch.ones(2, device="npu")
    >>> with torch.npu.graph(graph):
    ...     y = x * 3
    >>> x.fill_(2)
    tensor([2., 2.], device='npu:0')
    >>> graph.replay()
    >>> y.tolist()
    [6.0, 6.0]
    """

    def __init__(self, keep_graph: bool = False) -> None:
        super().__init__(keep_graph)
        self.graph_dispatch_mode = GraphDispatchMode()
        self.auto_dispatch_capture = False

    def update(self, cpu_update_input: Sequence[dict[str, Any]]) -> None:
        """Let the next run use other arguments, by their names: one mapping for all operators, or one for each of them."""
        if not self.auto_dispatch_capture:
            raise RuntimeError(
                "The current graph configuration does not support update,"
                "Try to capture by setting auto_dispatch_capture=True during capture"
            )
        self.graph_dispatch_mode.update_capture_record(cpu_update_input)


class graph:
    """Context manager that records a graph of what the block computes, on a stream of its own unless one is given.

    >>> graph = torch.npu.NPUGraph()
    >>> x = torch.ones(2, device="npu")
    >>> with torch.npu.graph(graph):
    ...     y = x + 1
    >>> graph.replay()
    >>> y.tolist()
    [2.0, 2.0]
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        npu_graph: NPUGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
        auto_dispatch_capture: bool = False,
    ) -> None:
        if enable_annotations:
            raise NotImplementedError("torch.npu.graph: enable_annotations is not supported")
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.pool = () if pool is None else (pool,)
        self.capture_stream = stream
        self.stream_ctx = StreamContext(stream)
        self.npu_graph = npu_graph
        self.capture_error_mode = capture_error_mode
        self.check_input_liveness = check_input_liveness
        self.auto_dispatch_capture = auto_dispatch_capture

    def __enter__(self) -> None:
        device.synchronize()
        memory.empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.npu_graph.capture_begin(
                *self.pool, capture_error_mode=self.capture_error_mode, check_input_liveness=self.check_input_liveness
            )
        except BaseException:
            self.stream_ctx.__exit__()
            raise
        if self.auto_dispatch_capture:
            self.npu_graph.auto_dispatch_capture = True
            self.npu_graph.graph_dispatch_mode.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.auto_dispatch_capture:
            self.npu_graph.graph_dispatch_mode.__exit__(None, None, None)
        try:
            self.npu_graph.capture_end()
        finally:
            self.stream_ctx.__exit__(*error)


def _forget_stream() -> None:
    graph.default_capture_stream = None


runtime.at_exit(_forget_stream)


class _Graphed:
    """One callable, recorded: its forward pass, and its backward pass where a result needs one."""

    def __init__(self, function: Callable[..., Any], sample: tuple[Any, ...], allow_unused: bool) -> None:
        self.function = function
        self.sample = sample
        self.allow_unused = allow_unused
        tree = torch.utils._pytree
        self.inputs = tuple(tree.arg_tree_leaves(*sample))
        if not all(isinstance(one, torch.Tensor) for one in self.inputs):
            raise AssertionError(
                "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
            )
        self.parameters = tuple(function.parameters()) if isinstance(function, torch.nn.Module) else ()
        self.surface = self.inputs + self.parameters
        self.forward, self.backward = NPUGraph(), NPUGraph()
        self.outputs: tuple[Tensor, ...] = ()
        self.given: tuple[Tensor | None, ...] = ()
        self.gradients: tuple[Tensor | None, ...] = ()
        self.spec: Any = None

    def _wanted(self) -> tuple[Tensor, ...]:
        return tuple(one for one in self.surface if one.requires_grad)

    def _differentiate(self, outputs: Sequence[Tensor], given: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(outputs, self._wanted(), given, only_inputs=True, allow_unused=self.allow_unused)  # type: ignore[no-any-return]

    def warm_up(self, times: int) -> None:
        """Run both passes without recording, so that what is made at a first use is there."""
        for _ in range(times):
            outputs = [one for one in torch.utils._pytree.tree_leaves(self.function(*self.sample)) if one.requires_grad]
            if outputs:
                self._differentiate(outputs, [torch.empty_like(one) for one in outputs])

    def record_forward(self, pool: Any) -> None:
        """Record the forward pass."""
        with graph(self.forward, pool=pool):
            outputs = self.function(*self.sample)
        flat, self.spec = torch.utils._pytree.tree_flatten(outputs)
        self.outputs = tuple(flat)

    def record_backward(self, pool: Any) -> None:
        """Record the backward pass, with memory for the gradients that it is given."""
        self.given = tuple(torch.empty_like(one) if one.requires_grad else None for one in self.outputs)
        outputs = [one for one in self.outputs if one.requires_grad]
        found: list[Tensor | None] = []
        if outputs:
            with graph(self.backward, pool=pool):
                found = list(self._differentiate(outputs, [one for one in self.given if one is not None]))
        self.gradients = tuple(found.pop(0) if one.requires_grad and found else None for one in self.surface)

    def replay_forward(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Put the inputs where the graph reads them, run it and return its results."""
        for own, one in zip(self.inputs, inputs, strict=False):
            if own.data_ptr() != one.data_ptr():
                own.copy_(one)
        self.forward.replay()
        return tuple(one.detach() for one in self.outputs)

    def replay_backward(self, gradients: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """The same of the backward pass."""
        for own, one in zip(self.given, gradients, strict=True):
            if own is not None and one is not None and own.data_ptr() != one.data_ptr():
                own.copy_(one)
        if any(one is not None for one in self.given):
            self.backward.replay()
        return tuple(None if one is None else one.detach() for one in self.gradients)

    def callable(self) -> Callable[..., Any]:
        """Return the function that replays the graphs, as part of autograd's graph."""
        graphed = self

        class Graphed(torch.autograd.Function):
            """The recorded passes."""

            @staticmethod
            def forward(ctx: Any, *inputs: Tensor) -> Any:
                with torch.no_grad():
                    return graphed.replay_forward(inputs)

            @staticmethod
            @torch.autograd.function.once_differentiable
            def backward(ctx: Any, *gradients: Tensor | None) -> Any:
                return graphed.replay_backward(gradients)

        def replay(*arguments: Any) -> Any:
            flat = torch.utils._pytree.arg_tree_leaves(*arguments)
            made = Graphed.apply(*flat, *graphed.parameters)
            return torch.utils._pytree.tree_unflatten(list(made), graphed.spec)

        return replay


def _check_module(module: Any) -> None:
    if module._backward_hooks or module._forward_hooks or module._forward_pre_hooks:
        raise AssertionError(
            "Modules must not have hooks registered at the time they are passed. However, registering hooks "
            "on modules after passing them through make_graphed_callables is allowed."
        )
    if any(one.requires_grad for one in module.buffers()):
        raise AssertionError(
            "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may be "
            "trainable. All buffers must have ``requires_grad=False``."
        )


def _replace_forward(module: Any, replay: Callable[..., Any]) -> Any:
    """Let a module replay its graph in the mode, training or not, in which that was recorded."""
    training, before = module.training, module.forward

    def forward(*arguments: Any) -> Any:
        return replay(*arguments) if module.training == training else before(*arguments)

    module.forward = forward
    return module


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> Any:
    """Return functions, or modules, that replay recorded graphs of their forward and backward passes.

    `sample_args` are tensors for each; later arguments must have their shapes, types and order.

    >>> layer = torch.nn.Linear(2, 1, device="npu")
    >>> x = torch.ones(3, 2, device="npu")
    >>> fast = torch.npu.make_graphed_callables(layer, (x,))
    >>> torch.equal(fast(x), layer(x))
    True
    """
    if torch.is_autocast_enabled() and torch.is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`."
        )
    several = isinstance(callables, tuple)
    functions, samples = (callables, sample_args) if several else ((callables,), (sample_args,))
    for one in functions:
        if isinstance(one, torch.nn.Module):
            _check_module(one)
    made = [_Graphed(one, sample, allow_unused_input) for one, sample in zip(functions, samples, strict=True)]
    pool = graph_pool_handle() if pool is None else pool
    device.synchronize()
    with StreamContext(Stream()):
        for one in made:
            one.warm_up(num_warmup_iters)
    device.synchronize()
    # One pool for all, so they are recorded in the order in which they will run.
    for one in made:
        one.record_forward(pool)
    for one in reversed(made):
        one.record_backward(pool)
    results = tuple(
        _replace_forward(one.function, one.callable()) if isinstance(one.function, torch.nn.Module) else one.callable()
        for one in made
    )
    return results if several else results[0]


adopt(globals())
