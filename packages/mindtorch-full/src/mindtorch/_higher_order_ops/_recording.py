"""Recording `torch.cond` and `while_loop`: their functions become graphs of their own, which one node calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._dynamo.exc import UncapturedHigherOrderOpError
from mindtorch.fx.experimental._proxy_mode import ProxyTorchDispatchMode, disable_proxy_modes_tracing
from mindtorch.fx.experimental._proxy_tracking import set_meta, track_tensor, track_tensor_tree
from mindtorch.fx.experimental._python_key_tracer import PythonKeyTracer
from mindtorch.utils._pytree import tree_flatten, tree_unflatten


class _Inner(PythonKeyTracer):
    """Records a function; the tensors of the program around it that it uses become inputs of its graph."""

    def __init__(self, outer: Any) -> None:
        super().__init__()
        self.outer = outer
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.record_stack_traces = outer.record_stack_traces
        self.entered: dict[fx.Node, fx.Node] = {}
        self.given: list[tuple[torch.Tensor, int]] = []

    def enter(self, value: torch.Tensor, name: str) -> fx.Proxy:
        """Return the proxy of a new input."""
        made = set_meta(self.create_proxy("placeholder", name, (), {}), value)
        track_tensor(value, made, constant=None, tracer=self)
        self.given.append((value, value._version))
        return made

    def unwrap_proxy(self, e: Any) -> Any:
        """Return the proxy of a tensor, which may be one of the program around; anything else as it is."""
        made = super().unwrap_proxy(e)
        if made is not e or not isinstance(e, torch.Tensor):
            return made
        above = self.outer.unwrap_proxy(e)
        if above is e:
            return e
        made = self.enter(e, above.node.name)
        self.entered[above.node] = made.node
        return made


class _Recorded:
    """A function that was run: its nodes and its results.

    Args:
        mode: the mode that records the program around it.
        fresh: give the function tensors of its own: what it is called with changes from call to call.
        operator: its name in messages.
    """

    def __init__(
        self, mode: Any, function: Callable[..., Any], operands: Sequence[Any], operator: str, fresh: bool = False
    ) -> None:
        self.inner = _Inner(mode.tracer)
        self.operator = operator
        self.own: list[fx.Node] = []
        with _recording(mode, self.inner) as inner_mode:
            if fresh:
                operands = [self._fresh(one) for one in operands]
            made = function(*operands)
            inner_mode.finish()
        self.values, self.spec = tree_flatten(made)
        self.results = [self.inner.create_arg(self.inner.unwrap_proxy(one)) for one in self.values]
        self._check()

    def _fresh(self, value: torch.Tensor) -> torch.Tensor:
        with disable_proxy_modes_tracing():
            made = value.detach().clone()
        self.own.append(self.inner.enter(made, "arg").node)
        return made

    def _check(self) -> None:
        for value, version in self.inner.given:
            if value._version != version:
                raise _refused(self.operator, "input mutation")
            for one in self.values:
                if isinstance(one, torch.Tensor) and _is_of(one, value):
                    raise _refused(self.operator, "aliasing")
        if not all(isinstance(one, torch.Tensor) for one in self.values):
            raise NotImplementedError(f"{self.operator}: results that are no tensors are not recorded")

    def module(self, inputs: Sequence[fx.Node], names: Sequence[str], single: bool = False) -> fx.GraphModule:
        """Return the module of the graph.

        Args:
            inputs: its arguments as nodes of the graph around it, or nodes of its own that stand for them.
            names: what they are called.
            single: it has one result, which is not put into a tuple.
        """
        graph = fx.Graph()
        nodes: dict[fx.Node, fx.Node] = {}
        for node, name in zip(inputs, names, strict=True):
            placed = graph.placeholder(name)
            placed.meta = {key: node.meta[key] for key in ("val", "tensor_meta") if key in node.meta}
            nodes[self.inner.entered.get(node, node)] = placed
        graph.graph_copy(self.inner.graph, nodes)
        results = fx.node.map_arg(tuple(self.results), nodes.__getitem__)
        graph.output(results[0] if single else results)
        return fx.GraphModule(self.inner.root, graph)


@contextlib.contextmanager
def _recording(mode: Any, tracer: Any) -> Iterator[Any]:
    """In the block `tracer` records what `mode` would."""
    made = ProxyTorchDispatchMode(
        tracer,
        mode.tracing_mode,
        mode.pre_dispatch,
        mode._allow_fake_constant,
        mode._error_on_data_dependent_ops,
        mode.decomposition_table,
    )
    with disable_proxy_modes_tracing(), made:
        yield made


def _is_of(one: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether a result is the value itself or a view of what the value shows."""
    base = value if value._base is None else value._base
    return one is value or one is base or one._base is base


def _refused(operator: str, what: str) -> UncapturedHigherOrderOpError:
    return UncapturedHigherOrderOpError(
        "This higher order operator doesn't work unless it is captured completely with torch.compile. Got graph break/error:"
        f"\n\nEncountered {what} during higher order op tracing\n  Higher Order Operator: {operator}\n"
        f"  Explanation: Higher order ops do not support {what}."
    )


def _kept(tracer: Any, module: fx.GraphModule, name: str) -> fx.Proxy:
    """Return the proxy of a graph that the root keeps."""
    place = tracer.get_fresh_qualname(f"{name}_")
    setattr(tracer.root, place, module)
    made: fx.Proxy = tracer.create_proxy("get_attr", place, (), {})
    return made


def _unlike(one: Any, other: Any) -> bool:
    return (one.shape, one.dtype, one.device) != (other.shape, other.dtype, other.device)


def record_cond(
    mode: Any,
    op: Any,
    pred: torch.Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any],
) -> Any:
    """Return what `torch.cond` gives, recorded as one node with a graph for each of the functions.

    Raises:
        UncapturedHigherOrderOpError: a function changes its arguments, or gives one of them.
        NotImplementedError: the functions give other structures, shapes or dtypes, or something else than tensors.
    """
    tracer = mode.tracer
    taken, other = (_Recorded(mode, one, operands, "torch.cond") for one in (true_fn, false_fn))
    if taken.spec != other.spec or any(map(_unlike, taken.values, other.values)):
        raise NotImplementedError(
            "torch.cond: functions whose results differ in structure, shape or dtype are not recorded"
        )
    given = [tracer.unwrap_proxy(one).node for one in operands if tracer.unwrap_proxy(one) is not one]
    first, second = taken.inner.entered, other.inner.entered

    def ordered(nodes: Sequence[fx.Node]) -> list[fx.Node]:
        return [*sorted(one for one in nodes if one not in given), *(one for one in given if one in nodes)]

    inputs = [
        *ordered([one for one in first if one in second]),
        *ordered([one for one in first if one not in second]),
        *ordered([one for one in second if one not in first]),
    ]
    names = [node.name for node in inputs]
    graphs = [
        _kept(tracer, taken.module(inputs, names), "true_graph"),
        _kept(tracer, other.module(inputs, names), "false_graph"),
    ]
    proxies = tuple(fx.Proxy(node, tracer) for node in inputs)
    made = tracer.create_proxy("call_function", op, (tracer.unwrap_proxy(pred), *graphs, proxies), {}, name="cond")
    with disable_proxy_modes_tracing():
        real = mode.tracing_mode == "real" and not pred
        values = tuple(one.detach() for one in (other if real else taken).values)
    track_tensor_tree(values, made, constant=None, tracer=tracer)
    return tree_unflatten(list(values), taken.spec)


def record_while_loop(
    mode: Any, op: Any, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return what `while_loop` gives, recorded as one node with a graph for each of the functions.

    Raises:
        UncapturedHigherOrderOpError: a function changes its arguments, or gives one of them.
        NotImplementedError: the loop carries something else than tensors, or their shapes or dtypes change.
    """
    tracer = mode.tracer
    if not all(isinstance(one, torch.Tensor) for one in carried):
        raise NotImplementedError("while_loop: numbers that a loop carries are not recorded; give tensors")
    asked, body = (_Recorded(mode, one, carried, "torch.while_loop", fresh=True) for one in (cond_fn, body_fn))
    if len(body.values) != len(carried) or any(map(_unlike, body.values, carried)):
        raise NotImplementedError(
            "while_loop: loops whose tensors change their number, shape or dtype are not recorded"
        )
    more = sorted({**asked.inner.entered, **body.inner.entered})
    names = [f"arg{place}_1" for place in range(len(carried) + len(more))]
    graphs = [
        _kept(tracer, asked.module([*asked.own, *more], names, single=True), "while_loop_cond_graph"),
        _kept(tracer, body.module([*body.own, *more], names), "while_loop_body_graph"),
    ]
    proxies = tuple(tracer.create_arg(tracer.unwrap_proxy(one)) for one in carried)
    beside = tuple(fx.Proxy(node, tracer) for node in more)
    made = tracer.create_proxy("call_function", op, (*graphs, proxies, beside), {}, name="while_loop")
    with disable_proxy_modes_tracing():
        values = tuple(one.detach().clone() for one in carried)
        while mode.tracing_mode == "real" and cond_fn(*values):
            values = body_fn(*values)
    track_tensor_tree(values, made, constant=None, tracer=tracer)
    return values
