"""Recording of a planned op: made once per plan, it knows which inputs get gradients and what to save for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.arguments.bound import tensor_leaves
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.interface.autograd import PlanRequest
from mindtorch_dispatch.interface.native import copied
from mindtorch_dispatch.meta.rule import View
from mindtorch_dispatch.state import state
from mindtorch_dispatch.table import DYNAMIC
from mindtorch_storage.tensor_base import TensorBase

from . import anomaly
from . import attributes as node_attributes
from .derivative import Derivative
from .engine import current_task
from .inplace import check_inplace, rebase_history
from .node import Node, OpNode, hooks_of, sequence
from .recording import PLAIN_KINDS, SaveKind
from .save_layout import Layout, constant_of
from .saved import Packed, freed_error, pack, unpack
from .views import gradient_edge

_new = object.__new__
_classes: dict[str, type[OpNode]] = {}
_anomaly = anomaly._settings
NOWHERE = (None, 0)
_TENSORS = frozenset((SaveKind.TENSOR, SaveKind.LIST, SaveKind.RESULT))
_PLAIN_SAVES = frozenset((SaveKind.TENSOR,))
_NUMBERS = (int, float, complex)


def node_class(name: str) -> type[OpNode]:
    """Return the node class called `name`, one per name."""
    cls = _classes.get(name)
    if cls is None:
        short = name.rpartition("::")[2]
        members: dict[str, Any] = {"__slots__": (), "__module__": "builtins", "__qualname__": short}
        if short != name:
            members["name"] = lambda self: name
        made = type(short, (OpNode,), members)
        cls = _classes.setdefault(name, made)
    return cls


def note(node: Node) -> None:
    """Note where the op was called, for anomaly detection."""
    task = current_task()
    anomaly.note_call(node, task.node if task is not None else None)


class Recorder:
    """Records calls of one plan. It holds geometry and constants of the plan's call, never its tensors.

    `edges` has an entry per differentiable tensor input in schema order: the source in `flat`, a (source, index) pair
    inside a list, or None where no gradient goes. `saves` are what each call keeps; `plain` says that no hook looks at
    them and none is a list. `environment` has the constants; a formula's parameters are places in it, the first two the
    gradients. `native` belongs to the native call path.
    """

    attributes = node_attributes
    """What its nodes show of what they keep."""

    __slots__ = (
        "arguments",
        "cls",
        "constants",
        "differentiable",
        "edges",
        "environment",
        "formulas",
        "native",
        "needs_self_copy",
        "outputs",
        "places",
        "plain",
        "plain_saves",
        "row",
        "saves",
        "saves_tensors",
        "single",
        "written",
    )

    def __init__(self, wanted: PlanRequest, entry: Derivative, outputs: tuple[Any, ...]) -> None:
        layout = Layout(wanted, entry)
        self.cls = node_class(entry.node)
        self.row = wanted.row
        self.differentiable = entry.outputs
        self.written = wanted.written
        self.outputs = outputs
        returns = wanted.row.schema.returns
        self.single = len(returns) == 1 and not returns[0].type.is_list
        self.edges = tuple(layout.edges)
        self.environment = layout.environment
        self.constants = layout.constants
        self.formulas = layout.formulas
        self.places = layout.places
        self.arguments = entry.read
        self.saves = tuple(layout.saves)
        kinds = {save.kind for save in self.saves}
        self.saves_tensors = bool(kinds & _TENSORS) or self._reads_number(wanted)
        kept = [save.source for save in self.saves if save.kind is SaveKind.TENSOR]
        self.needs_self_copy = wanted.written and wanted.sources[0] in kept
        plain = not wanted.written and wanted.mode.saved_hooks is not True
        plain = plain and not any([value._sig.inference for value in tensor_leaves(wanted.values)])
        self.plain = plain and kinds <= PLAIN_KINDS
        self.plain_saves = tuple([save.source for save in self.saves]) if plain and kinds <= _PLAIN_SAVES else None

    def resized(self, wanted: PlanRequest) -> Recorder:
        """Return the recorder of a call that differs from this one's in sizes and strides alone."""
        made: Recorder = copied(self, _KEPT)
        made.outputs = output_specs(wanted)
        made.environment = self.environment.copy()
        for place, index, what in self.constants:
            made.environment[place] = constant_of(wanted.values[index], what)
        return made

    check = staticmethod(check_inplace)

    def _reads_number(self, wanted: PlanRequest) -> bool:
        """Return whether a formula reads a number given for a tensor: torch makes a tensor of it, and that is freed, too."""
        for argument, value in zip(wanted.row.schema.arguments, wanted.values, strict=False):
            if isinstance(value, _NUMBERS) and argument.type.kind == "Tensor" and argument.name in self.arguments:
                return True
        return False

    def before(self, flat: tuple[Any, ...]) -> Any:
        """Ahead of a write: refuse what torch refuses; return the edges, and a copy of `self` if a formula needs it."""
        target = flat[0]
        check_inplace(target)
        copy = aten.clone(target) if self.needs_self_copy else None
        return self._edges_of(flat), copy

    def _edges_of(self, flat: tuple[Any, ...]) -> list[tuple[Any, int]]:
        edges: list[tuple[Any, int]] = []
        for place in self.edges:
            if place is None:
                edges.append(NOWHERE)
                continue
            tensor = flat[place] if place.__class__ is int else flat[place[0]][place[1]]
            if tensor._view is not None:
                edges.append(gradient_edge(tensor))
                continue
            made = tensor._grad_fn
            if made is not None:
                edges.append((made, tensor._output_nr))
                continue
            made = tensor._meta.accumulator() if tensor._meta is not None else None
            edges.append(gradient_edge(tensor) if made is None else (made, 0))
        return edges

    def after(self, flat: tuple[Any, ...], result: Any, before: Any = None) -> None:
        """Make the node of this call and connect the result to it."""
        node = _new(self.cls)
        node._recorder = self
        node._hooks = None
        node._seq = next(sequence)
        node._outputs = self.outputs
        node._edges = self._edges_of(flat) if before is None else before[0]
        plain = self.plain_saves
        if plain is None:
            node._saved = self._save(node, flat, result, None if before is None else before[1])
        else:
            saved: list[Any] = []
            node._saved = saved
            for place in plain:
                item = flat[place]
                saved += (item, item._counter[0])
        if _anomaly["enabled"]:
            note(node)
        if self.written:
            rebase_history(flat[0], node)
        elif self.single:
            result._grad_fn = node
        elif result.__class__ is tuple or result.__class__ is list:
            if len(self.outputs) < len(result):  # a composed op's outputs are known when it has run
                self.outputs = tuple(None if output is None else output._sig.spec for output in result)
                node._outputs = self.outputs
            for number, output in enumerate(result):
                if output is not None and output._sig.requires_grad:
                    output._grad_fn = node
                    output._output_nr = number
        else:
            result._grad_fn = node

    def after_view(self, flat: tuple[Any, ...], target: TensorBase, before: Any = None) -> None:
        """As `after`, for another geometry in place: the target may have been another output of its former node."""
        self.after(flat, target, before)
        target._output_nr = 0

    def _save(self, node: OpNode, flat: tuple[Any, ...], result: Any, self_copy: Any) -> list[Any]:
        """Return what the node keeps, each item followed by its version (None for what has none)."""
        saved: list[Any] = []
        for save in self.saves:
            kind, source = save.kind, save.source
            if kind is SaveKind.TENSOR:
                item = flat[source]
                if source == 0 and self_copy is not None:
                    item = self_copy
                version = item._counter[0]
                if self.written and item is not self_copy and item._counter is flat[0]._counter:
                    version -= 1  # it was saved, in torch, before the write
                saved += (pack(item, None), version)
            elif kind is SaveKind.RESULT:
                output = result[source] if result.__class__ in (tuple, list) else result
                saved += (pack(output, source if output._sig.requires_grad else None, node), output._counter[0])
            elif kind is SaveKind.LIST:
                given = flat[source]
                versions = [None if one is None else one._counter[0] for one in given]
                saved += ([None if one is None else pack(one, None) for one in given], versions)
            else:
                saved += (flat[source] if kind is SaveKind.SCALAR else flat[source]._offset, None)
        if state.mode.saved_hooks is True:
            hooks_of(
                node
            )  # an unpack hook may register others: only a node with a place for hooks is asked after it ran
        return saved

    def apply(self, node: OpNode, grads: list[Any], within: Node | None = None) -> list[Any]:
        """As `backward`, for the edges that the running pass wants: the node's, or those of the node that it is part of."""
        task = current_task()
        return self.backward(node, grads, None if task is None else task.wanted(within or node))

    def backward(self, node: OpNode, grads: list[Any], wanted: Sequence[bool] | None = None) -> list[Any]:
        """Run the formulas on the gradients of the outputs; one gradient per edge, for the edges that are `wanted` only.

        Raises torch's errors when saved values were freed or written into.
        """
        grad = grads[0] if grads else None
        edges = self.edges
        answers: list[Any] = [None] * len(edges)
        if grad is None and all(one is None for one in grads):
            return answers
        saved = node._saved
        if saved is None:
            raise freed_error()
        environment = self.environment.copy()
        if self.plain_saves is None:
            self._unpack(node, saved, environment)
        else:
            index = 0
            for save in self.saves:
                item = saved[index]
                if item.__class__ is Packed or item._counter[0] != saved[index + 1]:
                    item = unpack(node, item, saved[index + 1])
                environment[save.place] = item
                index += 2
        environment[0], environment[1] = grads, grad
        for formula in self.formulas:
            if grad is None and formula.wants_first:
                continue
            if wanted is not None:
                if not any(wanted[target] for target in formula.targets):
                    continue
                if formula.needs >= 0:
                    environment[formula.needs] = formula.needed(wanted)
            given = formula.fn(*formula.select(environment))
            if not formula.listed:
                answers[formula.targets[0]] = given
                continue
            for target, answer in zip(formula.targets, given, strict=True):
                if edges[target] is not None and (wanted is None or wanted[target]):
                    answers[target] = answer
        return answers

    def _unpack(self, node: OpNode, saved: list[Any], environment: list[Any]) -> None:
        """Put what the node saved at its places."""
        index = 0
        for save in self.saves:
            place = save.place
            item, version = saved[index], saved[index + 1]
            index += 2
            if version is None:
                environment[place] = item
            elif version.__class__ is list:
                environment[place] = [
                    None if one is None else unpack(node, one, at) for one, at in zip(item, version, strict=True)
                ]
            else:
                environment[place] = unpack(node, item, version)

    def saved_targets(self, node: OpNode) -> list[Any]:
        """Return the copies that `node` saved of its target's value before the write."""
        if not self.needs_self_copy or node._saved is None:
            return []
        return [
            item for item, save in zip(node._saved[::2], self.saves, strict=True)
            if save.kind is SaveKind.TENSOR and save.source == 0 and item.__class__ is not Packed
        ]  # fmt: skip


_KEPT = tuple(name for name in Recorder.__slots__ if name not in ("environment", "native", "outputs"))


def output_specs(wanted: PlanRequest) -> tuple[Any, ...]:
    """Return the specs of the outputs, None where they are not known or not made."""
    specs = wanted.specs
    if wanted.written:
        target = wanted.values[0]
        return (target._sig.spec,) if isinstance(target, TensorBase) else ()
    if specs is None or DYNAMIC in wanted.row.tags:
        return (None,) * max(1, len(wanted.row.schema.returns))
    many = specs if isinstance(specs, (list, tuple)) else (specs,)
    return tuple([one.spec if isinstance(one, View) else one for one in many])
