"""Recording a module as a graph whose inputs are its parameters, buffers and constants, and the arguments of a call."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch.export._inner_graphs import name_inner_inputs
from mindtorch.export._lowering import Lowering
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
    def state(self) -> dict[str, Any]:
        """All of them, in the order of the graph's inputs."""
        return {**self.parameters, **self.buffers, **self.constants}

    def by_module(self, mod: torch.nn.Module) -> dict[str, Any]:
        """All of them, the parameters first, the buffers and constants of each module together."""
        found = dict(self.parameters)
        for path, _ in mod.named_modules(remove_duplicate=False):
            for group in (self.buffers, self.constants):
                found.update({name: value for name, value in group.items() if name.rpartition(".")[0] == path})
        return found


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
    known = {id(module): set(vars(module)) for module in mod.modules()}
    try:
        yield
        _warn_of_assigned(mod, values, known)
    finally:
        for module, attribute, value in before:
            vars(module)[attribute] = value


def _warn_of_assigned(mod: torch.nn.Module, values: dict[str, Any], known: dict[int, set[str]]) -> None:
    """Warn of tensors that a call put into plain attributes: a program does not keep them."""
    found = []
    for path, module in mod.named_modules():
        for name, value in vars(module).items():
            full = f"{path}.{name}" if path else name
            new = id(module) in known and name not in known[id(module)]
            if isinstance(value, torch.Tensor) and (new or values.get(full, value) is not value):
                found.append(f"self.{full}")
    if found:
        start = f"attribute {found[0]} was" if len(found) == 1 else f"attributes {', '.join(found)} were"
        warnings.warn(
            f"The tensor {start} assigned during export. Such attributes must be registered as buffers using the "
            "`register_buffer` API (https://pytorch.org/docs/stable/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_buffer).",
            stacklevel=2,
        )


@contextlib.contextmanager
def _own_again(mod: torch.nn.Module, tensors: _Tensors) -> Iterator[None]:
    """After the block a module has its own parameters and buffers, also where it is part of itself under two names."""
    try:
        yield
    finally:
        for name, value in {**tensors.parameters, **tensors.buffers}.items():
            path, _, attribute = name.rpartition(".")
            owner = mod.get_submodule(path)
            (owner._parameters if name in tensors.parameters else owner._buffers)[attribute] = value


@contextlib.contextmanager
def _without_cudnn() -> Iterator[None]:
    """In the block norms do not ask for cuDNN; the other settings stay as they are, whatever they are."""
    before = torch._C._get_cudnn_enabled()
    torch._C._set_cudnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_cudnn_enabled(before)


def capture(
    mod: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], lowering: Lowering | None = None
) -> Captured:
    """Record a call of a module, on fakes of its tensors and of the arguments.

    Args:
        lowering: records other operators than those that the program calls, and no writes.

    Raises:
        RuntimeError: the program asks for the value of a tensor.
    """
    tensors = _tensors_of(mod)
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    state = tensors.state if lowering is None else tensors.by_module(mod)
    out_specs: list[pytree.TreeSpec] = []
    written: list[int] = []

    def run(*given: Any) -> tuple[Any, ...]:
        entered = given if lowering is None else lowering.entered(given)
        held = dict(zip(state, entered, strict=False))
        constants = {name: held[name] for name in tensors.constants}
        swapped = {name: one for name, one in held.items() if name not in constants}
        with _replaced(mod, constants), _own_again(mod, tensors), _reparametrize_module(mod, swapped):
            inner, named = pytree.tree_unflatten(list(entered[len(state) :]), in_spec)
            made = mod(*inner, **named) if lowering is None else lowering.call(mod, inner, named)
        out, spec = pytree.tree_flatten(made)
        out_specs.append(spec)
        if lowering is None:
            given_ids = {id(one) for one in held.values()}  # a module of two names is seen under both
            found = {
                at: swapped[name]
                for at, name in enumerate(state)
                if name in tensors.buffers and id(swapped[name]) not in given_ids
            }
        else:
            found, out = lowering.left(entered, out)
        written[:] = found
        return (*found.values(), *out)

    with _without_cudnn():
        recorded = record(run, (*state.values(), *leaves), mod, None if lowering is None else lowering.table)
    named = combined(mod.forward, args, kwargs)
    made = _Capture(tensors, list(state), leaves, named, recorded, written, lowering is not None)
    return made.finished(in_spec, out_specs[0])


class _Capture:
    """Makes what was recorded into a graph with names, and its signature."""

    def __init__(
        self,
        tensors: _Tensors,
        state: list[str],
        leaves: list[Any],
        named: dict[str, Any],
        recorded: fx.GraphModule,
        written: list[int],
        lowered: bool,
    ) -> None:
        self.tensors = tensors
        self.state = state
        self.leaves = leaves
        self.named = named
        self.recorded = recorded
        self.written = written
        self.lowered = lowered
        self.graph = fx.Graph()
        self.root = torch.nn.Module()
        self.nodes: dict[fx.Node, fx.Node] = {}
        self.inputs: list[InputSpec] = []
        self.lifted: dict[str, Any] = {}

    def finished(self, in_spec: pytree.TreeSpec, out_spec: pytree.TreeSpec) -> Captured:
        """Return the capture."""
        placeholders = [node for node in self.recorded.graph.nodes if node.op == "placeholder"]
        self._state(placeholders[: len(self.state)])
        self._literals()
        self._arguments(placeholders[len(self.state) :])
        outputs = self._body()
        name_inner_inputs(self.root, self.graph)
        tensors = self.tensors
        state = {**tensors.parameters, **{k: v for k, v in tensors.buffers.items() if k not in tensors.not_saved}}
        unsaved = {name: value for name, value in tensors.buffers.items() if name in tensors.not_saved}
        return Captured(
            fx.GraphModule(self.root, self.graph),
            ExportGraphSignature(self.inputs, outputs),
            state,
            {**tensors.constants, **unsaved, **self.lifted},
            in_spec,
            out_spec,
            list(self.named),
        )

    def _state(self, placeholders: list[fx.Node]) -> None:
        tensors = self.tensors
        for node, target in zip(placeholders, self.state, strict=True):
            prefix, kind = "c", InputKind.CONSTANT_TENSOR
            if target not in tensors.constants:
                prefix, kind = ("p", InputKind.PARAMETER) if target in tensors.parameters else ("b", InputKind.BUFFER)
            made = self._placeholder(node, lifted(prefix, target))
            saved = target not in tensors.not_saved if kind is InputKind.BUFFER else None
            self.inputs.append(InputSpec(kind, TensorArgument(made.name), target, saved))

    def _literals(self) -> None:
        """Make the tensors that the program made of literals, or found elsewhere, inputs, too."""
        known: dict[str, fx.Node] = {}
        for node in self.recorded.graph.nodes:
            if node.op != "get_attr":
                continue
            held = getattr(self.recorded, node.target)
            if isinstance(held, fx.GraphModule):  # a function of `cond` or `while_loop`, not an input
                self.root.add_module(node.target, held)
                continue
            if node.target not in known:
                target = f"lifted_tensor_{len(known)}"
                self.lifted[target] = held
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
        if self.lowered:
            self.recorded.graph.eliminate_dead_code()
        return self._outputs(self.graph.graph_copy(self.recorded.graph, self.nodes))

    def _outputs(self, values: tuple[Any, ...]) -> list[OutputSpec]:
        """Write the results; what the program leaves in place of a buffer is copied to it, or a result of a lowered graph."""
        count = len(self.written)
        places = dict(zip(self.written, values[:count], strict=True))
        outputs = [OutputSpec(OutputKind.USER_OUTPUT, _argument(one), None) for one in values[count:]]
        if self.lowered:
            changes = [OutputSpec(*self._change(place, value)) for place, value in places.items()]
            self.graph.output(tuple(values))
            return [*changes, *outputs]
        held = {spec.target: spec.arg.name for spec in self.inputs}
        nodes = {node.name: node for node in self.graph.nodes}
        for place, value in places.items():
            target = nodes[held[self.state[place]]]
            made = self.graph.create_node(
                "call_function", torch.ops.aten.copy_.default, (target, value), name="copy__default"
            )
            made.meta = {name: one for name, one in target.meta.items() if name in ("val", "tensor_meta")}
        self.graph.output(tuple(values[count:]))
        return outputs

    def _change(self, place: int, value: Any) -> tuple[OutputKind, Any, str]:
        spec = self.inputs[place if place < len(self.state) else place + len(self.lifted)]
        if spec.kind is InputKind.USER_INPUT:
            return OutputKind.USER_INPUT_MUTATION, _argument(value), spec.arg.name
        kind = OutputKind.PARAMETER_MUTATION if spec.kind is InputKind.PARAMETER else OutputKind.BUFFER_MUTATION
        return kind, _argument(value), str(spec.target)


def _argument(value: Any) -> TensorArgument | ConstantArgument:
    return TensorArgument(value.name) if isinstance(value, fx.Node) else ConstantArgument("", value)
