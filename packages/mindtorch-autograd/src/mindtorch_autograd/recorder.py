"""Recording of a planned op: made once per plan, it knows which inputs get gradients and what to save for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.autograd_interface import PlanRequest, hooks
from mindtorch_dispatch.meta.rule import View
from mindtorch_dispatch.table import OpRow
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .derivative import Derivative, Formula, find_derivative
from .inplace import check_inplace, gradient_edge, rebase_history
from .node import NotImplementedNode, OpNode, _sequence
from .reduction import fit
from .saved import freed_error, pack, unpack

_new = object.__new__
_classes: dict[str, type[OpNode]] = {}


def node_class(name: str) -> type[OpNode]:
    """Return the node class called `name`, one per name."""
    cls = _classes.get(name)
    if cls is None:
        made = type(name, (OpNode,), {"__slots__": (), "__module__": "torch.autograd"})
        cls = _classes.setdefault(name, made)
    return cls


def differentiable_dtype(spec: Spec) -> bool:
    """True for specs whose dtype can carry a gradient."""
    return spec.dtype.is_floating_point or spec.dtype.is_complex


class Recorder:
    """Records calls of one plan.

    `edges` has an entry per differentiable tensor input in schema order: the source in `flat`, a (source, index) pair
    inside a list, or None where no gradient goes. `saves` says what the node keeps: (kind, payload) pairs.
    """

    __slots__ = (
        "arguments",
        "cls",
        "differentiable",
        "edges",
        "formulas",
        "needs_self_copy",
        "outputs",
        "positions",
        "row",
        "saved_names",
        "saves",
        "saves_tensors",
        "specs",
        "values",
        "written",
    )

    def __init__(self, wanted: PlanRequest, entry: Derivative) -> None:
        row = wanted.row
        self.row = row
        self.cls = node_class(entry.node)
        self.differentiable = entry.outputs
        self.written = wanted.written
        self.outputs = _output_specs(wanted)
        self.values = wanted.values
        self.arguments = {argument.name: index for index, argument in enumerate(row.schema.arguments)}
        self.edges: list[Any] = []
        self.specs: list[Spec | None] = []
        self.positions: dict[str, list[int]] = {}
        active = [f for f in entry.formulas if any(self._requires(name) for name in f.arguments)]
        self._lay_out_edges(wanted, {name for f in entry.formulas for name in f.arguments})
        self._plan_saves(wanted, active)

    def _requires(self, name: str) -> bool:
        value = self.values[self.arguments[name]]
        items = value if isinstance(value, (list, tuple)) else (value,)
        return any(isinstance(item, TensorBase) and item._sig.requires_grad for item in items)

    def _lay_out_edges(self, wanted: PlanRequest, differentiable: set[str]) -> None:
        for name, index in self.arguments.items():
            if name not in differentiable:
                continue
            value, source = self.values[index], wanted.sources[index]
            places = self.positions[name] = []
            if isinstance(value, TensorBase):
                places.append(len(self.edges))
                self.edges.append(source if value._sig.requires_grad else None)
                self.specs.append(value._sig.spec)
            elif isinstance(value, (list, tuple)):
                for position, item in enumerate(value):
                    places.append(len(self.edges))
                    tracked = isinstance(item, TensorBase) and item._sig.requires_grad
                    self.edges.append((source, position) if tracked else None)
                    self.specs.append(item._sig.spec if isinstance(item, TensorBase) else None)
            else:
                places.append(len(self.edges))
                self.edges.append(None)
                self.specs.append(None)

    def _plan_saves(self, wanted: PlanRequest, active: Sequence[Formula]) -> None:
        """Work out the environment of the formulas: [grads, grad, saved...] and each parameter's place in it."""
        self.saved_names: list[str] = []
        self.saves: list[tuple[str, Any]] = []
        self.formulas: list[tuple[Callable[..., Any], tuple[int, ...], list[int], bool]] = []
        for formula in active:
            places = []
            for parameter in formula.parameters:
                if parameter in ("grads", "grad"):
                    places.append(0 if parameter == "grads" else 1)
                    continue
                saved = parameter if parameter != "needs" else "needs:" + ",".join(formula.arguments)
                if saved not in self.saved_names:
                    self.saved_names.append(saved)
                    self.saves.append(self._save_of(wanted, parameter, formula))
                places.append(2 + self.saved_names.index(saved))
            targets = [place for name in formula.arguments for place in self.positions.get(name, ())]
            as_list = formula.joint or isinstance(self.values[self.arguments[formula.arguments[0]]], (list, tuple))
            self.formulas.append((formula.fn, tuple(places), targets, as_list))
        self.saves_tensors = any(kind in ("tensor", "list", "result") for kind, _ in self.saves)
        self.needs_self_copy = wanted.written and any(
            kind == "tensor" and payload == wanted.sources[0] for kind, payload in self.saves
        )

    def _save_of(self, wanted: PlanRequest, parameter: str, formula: Formula) -> tuple[str, Any]:
        if parameter == "needs":
            return "const", tuple(self._requires(name) for name in formula.arguments)
        if parameter.startswith("result") and parameter not in self.arguments:
            return "result", int(parameter[6:] or 0)
        index = self.arguments.get(parameter)
        if index is not None:
            value, source = self.values[index], wanted.sources[index]
            if isinstance(value, TensorBase):
                return "tensor", source
            if isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
                return "list", source
            if source is not None and isinstance(value, (int, float, complex)) and not isinstance(value, bool):
                return "scalar", source
            return "const", value
        value = self.values[self.arguments[parameter.removesuffix("_spec")]]
        if isinstance(value, (list, tuple)):
            return "const", [item._sig.spec if isinstance(item, TensorBase) else item for item in value]
        return "const", value._sig.spec if isinstance(value, TensorBase) else value

    def before(self, flat: tuple[Any, ...]) -> Any:
        """Ahead of an in-place kernel: refuse what torch refuses; keep a copy of `self` if a formula needs it."""
        target = flat[0]
        check_inplace(target)
        return target.detach().clone() if self.needs_self_copy else None

    def after(self, flat: tuple[Any, ...], result: Any, self_copy: Any = None) -> None:
        """Make the node of this call and connect the result to it."""
        node = _new(self.cls)
        node._recorder = self
        node._outputs = self.outputs
        node._pre_hooks = node._post_hooks = node._tensor_hooks = None
        node._seq = next(_sequence)
        edges: list[tuple[Any, int]] = []
        for place in self.edges:
            if place is None:
                edges.append((None, 0))
            else:
                tensor = flat[place] if place.__class__ is int else flat[place[0]][place[1]]
                made = tensor._grad_fn
                if made is None or tensor._view is not None:
                    edges.append(gradient_edge(tensor))
                else:
                    edges.append((made, tensor._output_nr))
        node._edges = edges
        self._save(node, flat, result, self_copy)
        if self.written:
            rebase_history(flat[0], node)
        elif result.__class__ is tuple or result.__class__ is list:
            for number, output in enumerate(result):
                if output is not None and output._sig.requires_grad:
                    output._grad_fn = node
                    output._output_nr = number
        else:
            result._grad_fn = node

    def _save(self, node: OpNode, flat: tuple[Any, ...], result: Any, self_copy: Any) -> None:
        saved: list[Any] = []
        versions: list[Any] = []
        for kind, payload in self.saves:
            version: Any = None
            if kind == "tensor":
                item = flat[payload]
                if payload == 0 and self_copy is not None:
                    item = self_copy
                version = item._counter[0]
                item = pack(item, None)
            elif kind == "result":
                output = result[payload] if result.__class__ in (tuple, list) else result
                version = output._counter[0]
                item = pack(output, payload)
            elif kind == "scalar":
                item = flat[payload]
            elif kind == "list":
                given = flat[payload]
                version = [None if one is None else one._counter[0] for one in given]
                item = [None if one is None else pack(one, None) for one in given]
            else:
                item = payload
            saved.append(item)
            versions.append(version)
        node._saved = saved
        node._versions = versions

    def unpacked(self, node: OpNode) -> list[Any]:
        """Return the saved values in order; torch's error when they were freed or written into."""
        saved = node._saved
        if saved is None:
            raise freed_error()
        values = []
        for item, version in zip(saved, node._versions, strict=True):
            if version is None:
                values.append(item)
            elif version.__class__ is list:
                values.append(
                    [None if one is None else unpack(node, one, at) for one, at in zip(item, version, strict=True)]
                )
            else:
                values.append(unpack(node, item, version))
        return values

    def backward(self, node: OpNode, grads: list[Any]) -> Sequence[Any]:
        """Run the formulas on the gradients of the outputs; one gradient per edge, fitted to the inputs."""
        grad = grads[0]
        if grad is None and len(grads) == 1:
            return [None] * len(self.edges)
        environment = [grads, grad, *self.unpacked(node)]
        answers: list[Any] = [None] * len(self.edges)
        for fn, places, targets, as_list in self.formulas:
            if grad is None and 1 in places:
                continue
            given = fn(*[environment[place] for place in places])
            for target, answer in zip(targets, given if as_list else (given,), strict=True):
                if answer is not None and self.edges[target] is not None:
                    answers[target] = fit(answer, self.specs[target])
        return answers

    def saved_attribute(self, node: OpNode, name: str) -> Any:
        """Return the value saved under `name`, as `grad_fn._saved_<name>`."""
        if name not in self.saved_names:
            raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")
        if node._saved is None:
            raise freed_error()
        return self.unpacked(node)[self.saved_names.index(name)]


def _output_specs(wanted: PlanRequest) -> tuple[Any, ...]:
    specs = wanted.specs
    if wanted.written:
        target = wanted.values[0]
        return (target._sig.spec,) if isinstance(target, TensorBase) else ()
    if specs is None:
        return (None,) * max(1, len(wanted.row.schema.returns))
    many = specs if isinstance(specs, (list, tuple)) else (specs,)
    return tuple(one.spec if isinstance(one, View) else one for one in many)


class MissingRecorder:
    """Recorder of an op without a derivative row: the node it makes raises when it runs."""

    __slots__ = ("name", "outputs", "sources", "written")

    differentiable = None

    def __init__(self, wanted: PlanRequest) -> None:
        self.name = wanted.row.aten_name
        self.outputs = _output_specs(wanted)
        self.written = wanted.written
        self.sources = [
            source
            for source, value in zip(wanted.sources, wanted.values, strict=True)
            if isinstance(value, TensorBase) and value._sig.requires_grad
        ]

    def before(self, flat: tuple[Any, ...]) -> None:
        """Refuse what torch refuses."""
        check_inplace(flat[0])

    def after(self, flat: tuple[Any, ...], result: Any, self_copy: Any = None) -> None:
        """Connect the result to a node that raises."""
        node = NotImplementedNode([gradient_edge(flat[source]) for source in self.sources], self.outputs)
        node.op_name = self.name
        if self.written:
            rebase_history(flat[0], node)
            return
        for number, output in enumerate(result if isinstance(result, (tuple, list)) else (result,)):
            if output is not None and output._sig.requires_grad:
                output._grad_fn = node
                output._output_nr = number


def make_recorder(wanted: PlanRequest) -> Recorder | MissingRecorder | None:
    """Return the recorder of a plan, None when its outputs carry no gradient."""
    entry = find_derivative(wanted.row)
    if entry is None:
        specs = [spec for spec in _output_specs(wanted) if spec is not None]
        if not any(differentiable_dtype(spec) for spec in specs):
            return None
        return MissingRecorder(wanted)
    if entry.non_differentiable:
        return None
    specs = [spec for spec in _output_specs(wanted) if spec is not None]
    if specs and not any(differentiable_dtype(spec) for spec in specs):
        return None
    names = [argument.name for argument in wanted.row.schema.arguments]
    active = {name for formula in entry.formulas for name in formula.arguments}
    for name, value in zip(names, wanted.values, strict=True):
        items = value if isinstance(value, (list, tuple)) else (value,)
        if name in active and any(isinstance(item, TensorBase) and item._sig.requires_grad for item in items):
            return Recorder(wanted, entry)
    return None


def has_formula(row: OpRow) -> bool:
    """True when the op has a derivative row, so that a composing function is not differentiated through."""
    entry = find_derivative(row)
    return entry is not None and not entry.non_differentiable


def install() -> None:
    """Put this autograd into the call path."""
    hooks.install(make_recorder, has_formula)


