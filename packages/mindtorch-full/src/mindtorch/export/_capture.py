"""Recording a module as a graph whose inputs are its parameters, buffers and constants, and the arguments of a call."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch.export._names import combined, leaves_of, lifted
from mindtorch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from mindtorch.fx.experimental.proxy_tensor import record
from mindtorch.nn.utils.stateless import _reparametrize_module
from mindtorch.utils import _pytree as pytree


@dataclasses.dataclass
class Captured:
    """What was recorded: the graph's module, its signature, the values of its inputs, the shapes of a call."""

    module: fx.GraphModule
    signature: ExportGraphSignature
    state_dict: dict[str, Any]
    constants: dict[str, Any]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    names: list[str]


@dataclasses.dataclass
class _Tensors:
    """The tensors of a module, by name."""

    parameters: dict[str, Any]
    buffers: dict[str, Any]
    constants: dict[str, Any]
    not_saved: set[str]

    @property
    def count(self) -> int:
        return len(self.parameters) + len(self.buffers) + len(self.constants)


def _tensors_of(mod: torch.nn.Module) -> _Tensors:
    found = _Tensors(
        dict(mod.named_parameters(remove_duplicate=False)), dict(mod.named_buffers(remove_duplicate=False)), {}, set()
    )
    for path, module in mod.named_modules(remove_duplicate=False):
        start = f"{path}." if path else ""
        found.not_saved |= {start + name for name in module._non_persistent_buffers_set}
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found.constants[start + name] = value
    return found


@contextlib.contextmanager
def _replaced(mod: torch.nn.Module, values: dict[str, Any]) -> Iterator[None]:
    """In the block, plain attributes of a module and of those below it have other values."""
    before = []
    for name, value in values.items():
        path, _, attribute = name.rpartition(".")
        module = mod.get_submodule(path)
        before.append((module, attribute, vars(module)[attribute]))
        vars(module)[attribute] = value
    try:
        yield
    finally:
        for module, attribute, value in before:
            vars(module)[attribute] = value


@contextlib.contextmanager
def _without_cudnn() -> Iterator[None]:
    """In the block norms do not ask for cuDNN; the other settings stay as they are, whatever they are."""
    before = torch._C._get_cudnn_enabled()
    torch._C._set_cudnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_cudnn_enabled(before)


def capture(mod: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Captured:
    """Record a call of a module, on fakes of its tensors and of the arguments.

    Raises:
        RuntimeError: the program asks for the value of a tensor.
    """
    tensors = _tensors_of(mod)
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    state = [*tensors.parameters.values(), *tensors.buffers.values(), *tensors.constants.values()]
    out_specs: list[pytree.TreeSpec] = []

    def run(*given: Any) -> tuple[Any, ...]:
        at = iter(given)
        swapped = {name: next(at) for name in (*tensors.parameters, *tensors.buffers)}
        with _replaced(mod, {name: next(at) for name in tensors.constants}), _reparametrize_module(mod, swapped):
            inner, named = pytree.tree_unflatten(list(at), in_spec)
            out, spec = pytree.tree_flatten(mod(*inner, **named))
        out_specs.append(spec)
        return tuple(out)

    with _without_cudnn():
        recorded = record(run, (*state, *leaves), mod)
    return _Capture(tensors, leaves, combined(mod.forward, args, kwargs), recorded).finished(in_spec, out_specs[0])


class _Capture:
    """Makes what was recorded into a graph with names, and its signature."""

    def __init__(self, tensors: _Tensors, leaves: list[Any], named: dict[str, Any], recorded: fx.GraphModule) -> None:
        self.tensors = tensors
        self.leaves = leaves
        self.named = named
        self.recorded = recorded
        self.graph = fx.Graph()
        self.nodes: dict[fx.Node, fx.Node] = {}
        self.inputs: list[InputSpec] = []
        self.lifted: dict[str, Any] = {}

    def finished(self, in_spec: pytree.TreeSpec, out_spec: pytree.TreeSpec) -> Captured:
        """Return the capture."""
        placeholders = [node for node in self.recorded.graph.nodes if node.op == "placeholder"]
        self._state(placeholders[: self.tensors.count])
        self._literals()
        self._arguments(placeholders[self.tensors.count :])
        outputs = self._body()
        tensors = self.tensors
        state = {**tensors.parameters, **{k: v for k, v in tensors.buffers.items() if k not in tensors.not_saved}}
        unsaved = {name: value for name, value in tensors.buffers.items() if name in tensors.not_saved}
        return Captured(
            fx.GraphModule(torch.nn.Module(), self.graph),
            ExportGraphSignature(self.inputs, outputs),
            state,
            {**tensors.constants, **unsaved, **self.lifted},
            in_spec,
            out_spec,
            list(self.named),
        )

    def _state(self, placeholders: list[fx.Node]) -> None:
        tensors = self.tensors
        kinds = [("p", InputKind.PARAMETER, name) for name in tensors.parameters]
        kinds += [("b", InputKind.BUFFER, name) for name in tensors.buffers]
        kinds += [("c", InputKind.CONSTANT_TENSOR, name) for name in tensors.constants]
        for node, (prefix, kind, target) in zip(placeholders, kinds, strict=True):
            made = self._placeholder(node, lifted(prefix, target))
            saved = target not in tensors.not_saved if kind is InputKind.BUFFER else None
            self.inputs.append(InputSpec(kind, TensorArgument(made.name), target, saved))

    def _literals(self) -> None:
        """Make the tensors that the program made of literals, or found elsewhere, inputs, too."""
        known: dict[str, fx.Node] = {}
        for node in self.recorded.graph.nodes:
            if node.op != "get_attr":
                continue
            if node.target not in known:
                target = f"lifted_tensor_{len(known)}"
                self.lifted[target] = getattr(self.recorded, node.target)
                known[node.target] = self._placeholder(node, lifted("c", target))
                self.inputs.append(
                    InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(known[node.target].name), target)
                )
            self.nodes[node] = known[node.target]

    def _arguments(self, placeholders: list[fx.Node]) -> None:
        names = [name for name, _, _ in leaves_of(self.named)]
        for node, name, leaf in zip(placeholders, names, self.leaves, strict=True):
            made = self._placeholder(node, name)
            tensor = isinstance(leaf, torch.Tensor)
            made.meta.setdefault("val", leaf)
            arg = TensorArgument(made.name) if tensor else ConstantArgument(made.name, leaf)
            self.inputs.append(InputSpec(InputKind.USER_INPUT, arg, None))

    def _placeholder(self, node: fx.Node, name: str) -> fx.Node:
        made = self.graph.placeholder(name)
        made.name = name  # also where Python has the name, as `input`
        made.meta = {name: value for name, value in node.meta.items() if name in ("val", "tensor_meta")}
        self.nodes[node] = made
        return made

    def _body(self) -> list[OutputSpec]:
        outputs: list[OutputSpec] = []
        for node in self.recorded.graph.nodes:
            if node.op == "output":
                made = self.graph.node_copy(node, self.nodes.__getitem__)
                outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument(one), None) for one in made.args[0]]
            elif node not in self.nodes:
                self.nodes[node] = self.graph.node_copy(node, self.nodes.__getitem__)
        return outputs


def _argument(value: Any) -> TensorArgument | ConstantArgument:
    return TensorArgument(value.name) if isinstance(value, fx.Node) else ConstantArgument("", value)
