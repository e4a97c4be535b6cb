"""The graph of a model for TensorBoard: what one run of it calls, by the module that calls it.

Operators are recorded as the program calls them, composed ones whole. What of the program is Python (sizes read as
numbers, branches) is in the graph with the values that it had in this run.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.step_stats_pb2 import DeviceStepStats, StepStats
from tensorboard.compat.proto.versions_pb2 import VersionDef

from mindtorch._naming import adopt
from mindtorch.jit import TracerWarning
from mindtorch.nn.modules.module import Module
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch_storage.tensor_base import TensorBase

from ._proto_graph import node_proto

__all__ = ["graph"]

_CHANGING = (
    "Encountering a {kind} at the output of the tracer might cause the trace to be incorrect, this is only valid if the "
    "container structure does not change based on the module's inputs. Consider using a constant container instead "
    "(e.g. for `list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely need this and "
    "know the side effects, pass strict=False to trace() to allow this behavior."
)
_NO_OUTPUT = "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions"


@dataclass
class _Node:
    """One node: its name, what it is, the names of its inputs, its attributes' text and the shape it gives.

    The outputs of one call are nodes that have one list of inputs.
    """

    name: str
    kind: str
    inputs: list[str]
    attributes: str = "{}"
    shape: list[int] | None = None


class _Recorder(TorchDispatchMode):
    """Notes every call of an operator as nodes, under the scope of the module that is running."""

    above_autograd = sees_composed = True

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.root = type(model).__name__
        self.running: list[str] = []
        self.nodes: list[_Node] = []
        self.entries: list[_Node] = []
        self.taken: set[str] = set()
        self.names: dict[int, str] = {}
        self.alive: list[Any] = []  # what has a name stays, so that its identity is nobody else's
        self.members = _members(model)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operator and note it."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        given = [*args, *([] if len(args) > len(func._schema.arguments) else self._rest(func, args, kwargs))]
        inputs = [self.name_of(value) for value in given]
        kind = f"aten::{func._schema.name.partition('::')[2]}" if func.namespace == "aten" else func._schema.name
        for one in result if isinstance(result, tuple) else (result,):
            self._note_result(one, kind, inputs)
        return result

    @staticmethod
    def _rest(func: Any, args: Any, kwargs: Any) -> list[Any]:
        """Return the arguments that were not given by place, in the schema's order."""
        missing = func._schema.arguments[len(args) :]
        return [kwargs.get(one.name, one.default_value if one.has_default_value() else None) for one in missing]

    def _note_result(self, value: Any, kind: str, inputs: list[str]) -> None:
        if isinstance(value, list):
            whole = [self.note(kind, inputs)]
            for one in value:
                self.give_name(one, self.note("prim::ListUnpack", whole, value=one))
        else:
            self.give_name(value, self.note(kind, inputs, value=value))

    def scope(self) -> str:
        """Return the scope of what is running."""
        return "/".join([self.root, *self.running])

    def note(self, kind: str, inputs: list[str], attributes: str = "{}", value: Any = None) -> str:
        """Add a node under the scope of what is running and return its name."""
        shape = list(value.shape) if isinstance(value, TensorBase) else None
        return self.add(f"{self.scope()}/{len(self.nodes)}", kind, inputs, attributes, shape)

    def add(self, name: str, kind: str, inputs: list[str], attributes: str, shape: list[int] | None) -> str:
        """Add a node and return its name."""
        self.nodes.append(_Node(name, kind, inputs, attributes, shape))
        return name

    def give_name(self, value: Any, name: str) -> None:
        """Let a tensor be known by the node that made it, or wrote into it, last."""
        if isinstance(value, TensorBase):
            self.names[id(value)] = name
            self.alive.append(value)

    def name_of(self, value: Any) -> str:
        """Return the name of the node that gives a value; one is made for what no node gave."""
        if isinstance(value, (list, tuple)):
            return self.note("prim::ListConstruct", [self.name_of(one) for one in value])
        if not isinstance(value, TensorBase):
            text = int(value) if isinstance(value, bool) else value
            return self.note("prim::Constant", [], "{}" if value is None else f"{{ value : {text}}}".replace("'", " "))
        if id(value) not in self.names:
            self.give_name(value, self._source(value))
        return self.names[id(value)]

    def _source(self, value: Any) -> str:
        if id(value) not in self.members:
            return self.note("prim::Constant", [], f"{{ value : {value.detach()}}}".replace("'", " "), value)
        scope, attribute = self.members[id(value)]
        name = f"{scope}/{attribute}/{attribute}"
        return self.add(name, "prim::GetAttr", [], f"{{ name :  {attribute} }}", None)

    def note_output(self, value: Any) -> str:
        """Note how the output is put together and return its name."""
        if isinstance(value, TensorBase):
            return self.name_of(value)
        if isinstance(value, Mapping):
            pairs = [name for key, one in value.items() for name in (self.name_of(key), self.note_output(one))]
            return self.note("prim::DictConstruct", pairs)
        if not isinstance(value, (list, tuple)):
            raise RuntimeError(_NO_OUTPUT)
        kind = "prim::ListConstruct" if isinstance(value, list) else "prim::TupleConstruct"
        return self.note(kind, [self.note_output(one) for one in value])


def _scopes(model: Any) -> dict[str, str]:
    """Return the label of every module inside the model by its path: its class and its name in its parent."""
    return {
        path: f"{type(module).__name__}[{path.rpartition('.')[2]}]" for path, module in model.named_modules() if path
    }


def _members(model: Any) -> dict[int, tuple[str, str]]:
    """Return the scope and the name of every parameter and buffer."""
    labels = _scopes(model)
    found: dict[int, tuple[str, str]] = {}
    for path, module in model.named_modules():
        parts = path.split(".") if path else []
        above = [labels[".".join(parts[: count + 1])] for count in range(len(parts))]
        scope = "/".join([type(model).__name__, *above])
        for name, value in [*module._parameters.items(), *module._buffers.items()]:
            if value is not None:
                found.setdefault(id(value), (scope, name))
    return found


@contextlib.contextmanager
def _followed(model: Any, recorder: _Recorder) -> Iterator[None]:
    """Let the recorder know which module is running."""
    labels, handles = _scopes(model), []

    def enter(label: str) -> Any:
        return lambda *_: recorder.running.append(label)

    def leave(*_: Any) -> None:
        recorder.running.pop()

    try:
        for path, module in model.named_modules():
            if path:
                handles.append(module.register_forward_pre_hook(enter(labels[path]), prepend=True))
                handles.append(module.register_forward_hook(leave))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    training = model.training
    model.train(False)
    try:
        yield
    finally:
        model.train(training)


def _name_inputs(model: Any, args: tuple[Any, ...], recorder: _Recorder) -> None:
    """Give the tensors among the inputs the names of `forward`'s parameters."""
    parameters = list(inspect.signature(model.forward).parameters)
    for place, value in enumerate(args):
        name = parameters[place] if place < len(parameters) else f"argument_{place}"
        for number, one in enumerate(value if isinstance(value, (list, tuple)) else (value,)):
            if not isinstance(one, TensorBase):
                kinds = ", ".join("Tensor" if isinstance(v, TensorBase) else type(v).__name__ for v in args)
                raise RuntimeError(
                    f"Type 'Tuple[{kinds}]' cannot be traced. Only Tensors and (possibly nested) Lists, Dicts, and Tuples "
                    "of Tensors can be traced"
                )
            shown = f"input/{name}" if one is value else f"input/{name}.{number}"
            recorder.give_name(one, shown)
            recorder.entries.append(_Node(shown, "IO Node", [], "", list(one.shape)))


def _record(model: Any, args: tuple[Any, ...], strict: bool) -> list[_Node]:
    recorder = _Recorder(model)
    _name_inputs(model, args, recorder)
    with _followed(model, recorder), recorder:
        output = model(*args)
    if strict and isinstance(output, Mapping):
        raise RuntimeError(_CHANGING.format(kind="dict"))
    if strict and isinstance(output, list):
        warnings.warn(_CHANGING.format(kind="list"), TracerWarning, stacklevel=4)
    last = recorder.note_output(output)
    shape = list(output.shape) if isinstance(output, TensorBase) else [1]
    end = _Node("output/output.1", "IO Node", [last], "", shape)
    nodes = _needed(recorder.nodes, last)
    used = {name for node in [*nodes, end] for name in node.inputs}
    return [*(one for one in recorder.entries if one.name in used), end, *nodes]


def _needed(nodes: list[_Node], last: str) -> list[_Node]:
    """Return the nodes that the output needs, with all outputs of their calls, and those that write into a tensor."""
    needed, kept = {last}, []
    calls = [list(call) for _, call in itertools.groupby(nodes, key=lambda node: id(node.inputs))]
    for call in reversed(calls):
        kind = call[0].kind
        if any(node.name in needed for node in call) or (kind.startswith("aten::") and kind.endswith("_")):
            needed.update(call[0].inputs)
            kept.append(call)
    return [node for call in reversed(kept) for node in call]


def graph(model: Module, args: Any, verbose: bool = False, use_strict_trace: bool = True) -> tuple[Any, Any]:
    """Return the GraphDef of one run of the model in evaluation, and the metadata that say it was run on the processor.

    Args:
        model: the model.
        args: its input, or several in a tuple or list.
        verbose: print the nodes.
        use_strict_trace: a dict as the output is an error.
    """
    given = tuple(args) if isinstance(args, (list, tuple)) else (args,)
    with _evaluating(model):
        try:
            nodes = _record(model, given, use_strict_trace)
        except RuntimeError as error:
            print(error)
            print("Error occurs, No graph saved")
            raise
    if verbose:
        for node in nodes:
            print(f"{node.name} : {node.kind}({', '.join(node.inputs)})")
    protos = [
        node_proto(one.name, one.kind, one.inputs, outputsize=one.shape, attributes=one.attributes) for one in nodes
    ]
    metadata = RunMetadata(step_stats=StepStats(dev_stats=[DeviceStepStats(device="/device:CPU:0")]))
    return GraphDef(node=protos, versions=VersionDef(producer=22)), metadata


adopt(globals())
