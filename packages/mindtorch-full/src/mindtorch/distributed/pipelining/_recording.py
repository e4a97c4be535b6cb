"""The graph of a module, recorded while it computes: operators with their arguments, and where the module is cut."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import Any

import mindtorch as torch
from mindtorch import fx, nn
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree
from mindtorch.utils._python_dispatch import TorchDispatchMode


class SplitPoint(Enum):
    """Where a model is cut: before or after a module.

    pipeline(model, (x,), split_spec={"layers.4": SplitPoint.BEGINNING})
    """

    BEGINNING = 1
    END = 2


_recorders: list[_Recorder] = []


def pipe_split() -> None:
    """Cut a model here, where `pipeline` splits it; elsewhere nothing is done.

    def forward(self, x):
        x = self.first(x)
        pipe_split()
        return self.second(x)
    """
    if _recorders:
        _recorders[-1].graph.call_function(pipe_split)


class _Recorder(TorchDispatchMode):
    """Writes every operator as a node. Tensors that nothing made are the module's, or constants."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.graph = fx.Graph()
        self.attributes: dict[str, Tensor] = {}
        self._named = {id(t): name for name, t in (*module.named_buffers(), *module.named_parameters())}
        self._nodes: dict[int, fx.Node] = {}
        self._kept: list[Tensor] = []  # an address tells one tensor only as long as it lives

    def bind(self, value: object, node: fx.Node) -> None:
        """Note which tensors a node gives."""
        if isinstance(value, Tensor):
            self._nodes[id(value)] = node
            self._kept.append(value)
        elif isinstance(value, (list, tuple)):
            for index, one in enumerate(value):
                if isinstance(one, Tensor):
                    self.bind(one, self.graph.call_function(operator.getitem, (node, index)))
        elif isinstance(value, Mapping):
            for key, one in value.items():
                if _holds_tensors(one):
                    self.bind(one, self.graph.call_function(operator.getitem, (node, key)))

    def argument(self, value: object) -> Any:
        """Return what stands for a value in the graph."""
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self._nodes:
            name = self._named.get(id(value), f"_tensor_constant{len(self.attributes)}")
            self.attributes[name] = value
            self.bind(value, self.graph.get_attr(name))
        return self._nodes[id(value)]

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> object:
        given = _pytree.tree_map(self.argument, (args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        node = self.graph.call_function(func, tuple(given[0]), given[1])
        if not torch.is_grad_enabled() and isinstance(result, Tensor) and result.is_floating_point():
            node = self.graph.call_function(torch.ops.aten.detach.default, (node,))
        self.bind(result, node)
        return result


def _holds_tensors(value: object) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in _pytree.tree_leaves(value))


def _cut(module: nn.Module, spec: Mapping[str, SplitPoint], stack: ExitStack) -> None:
    """Let a module cut the graph before or after its submodules of some names."""
    for name, point in spec.items():
        atoms, found = name.split("."), module
        for count, atom in enumerate(atoms[:-1], 1):
            try:
                found = getattr(found, atom)
            except AttributeError as error:
                missing = ".".join(atoms[:count])
                raise AttributeError(f"Specified target {name} referenced nonexistent module {missing}") from error
        found = getattr(found, atoms[-1])
        if point is SplitPoint.BEGINNING:
            stack.callback(found.register_forward_pre_hook(lambda *given: pipe_split()).remove)
        elif point is SplitPoint.END:
            stack.callback(found.register_forward_hook(lambda *given: pipe_split()).remove)
        else:
            raise ValueError("Unknown split point type.")


@contextmanager
def _unchanged(module: nn.Module) -> Iterator[None]:
    """Give buffers and the generator the state back that they had."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]
    with torch.random.fork_rng(devices=[]):
        yield
    with torch.no_grad():
        for buffer, before in buffers:
            buffer.copy_(before)


def _inputs(module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return the arguments of a call by name."""
    bound = inspect.signature(module.forward).bind(*args, **kwargs)
    found: list[tuple[str, object]] = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found += [(f"{name}_{index}", one) for index, one in enumerate(value)]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found += value.items()
        else:
            found.append((name, value))
    return found


def record(
    module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any], spec: Mapping[str, SplitPoint]
) -> fx.GraphModule:
    """Return the graph of a call of a module, with a node `pipe_split` where it is cut.

    Shapes are those of the call, and so are the ways that the program took.
    """
    recorder = _Recorder(module)
    inputs = _inputs(module, args, kwargs)
    fixed = len(inputs)
    while fixed and not _holds_tensors(inputs[fixed - 1][1]):
        fixed -= 1
    for index, (name, value) in enumerate(inputs):
        default = (value,) if index >= fixed else ()
        recorder.bind(value, recorder.graph.placeholder(name, None, *default))
    with ExitStack() as stack:
        _cut(module, spec, stack)
        stack.enter_context(_unchanged(module))
        _recorders.append(recorder)
        stack.callback(_recorders.pop)
        with recorder:
            output = module(*args, **kwargs)
    recorder.graph.output(tuple(recorder.argument(leaf) for leaf in _pytree.tree_leaves(output)))
    return fx.GraphModule(recorder.attributes, recorder.graph)


adopt(globals())
