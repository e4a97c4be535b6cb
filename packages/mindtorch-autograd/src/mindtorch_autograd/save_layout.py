"""What a recorder is made of, worked out from the call that is planned: edges, saves, formulas and their constants."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from mindtorch_dispatch.interface.autograd import PlanRequest
from mindtorch_storage.tensor_base import TensorBase

from .attributes import SHOWN, geometry
from .derivative import Derivative, Formula
from .recording import PlannedFormula, Save, SaveKind


class Layout:
    """Works out the parts of a `Recorder` from the call that is planned."""

    def __init__(self, wanted: PlanRequest, entry: Derivative) -> None:
        self.wanted = wanted
        self.arguments = wanted.row.places
        self.edges: list[Any] = []
        self.positions: dict[str, list[int]] = {}
        self.environment: list[Any] = [None, None]
        self.places: dict[str, int] = {}
        self.saves: list[Save] = []
        self.formulas: list[PlannedFormula] = []
        self.constants: list[tuple[int, int, str | None]] = []
        for name, index in self.arguments.items():
            if name in entry.active:
                self._lay_out(name, wanted.values[index], wanted.sources[index])
        for formula in entry.formulas:
            for name in formula.arguments:
                if requires(wanted.values[self.arguments[name]]):
                    self._add(formula)
                    break
        for name in SHOWN.get(entry.node, "").split():
            if name not in self.places:
                self.places[name] = len(self.environment)
                self.environment.append(self._shown(name))
        if len(self.saves) > 1:
            names = {place: name for name, place in self.places.items()}
            self.saves.sort(key=lambda save: names.get(save.place, ""))  # torch's order of packing and unpacking

    def _lay_out(self, name: str, value: Any, source: int | None) -> None:
        """Give the argument its edges; a number at a tensor's place and a missing tensor have an edge to nowhere."""
        places = self.positions[name] = []
        if isinstance(value, (list, tuple)):
            for position, item in enumerate(value):
                places.append(len(self.edges))
                self.edges.append((source, position) if requires(item) else None)
            return
        places.append(len(self.edges))
        self.edges.append(source if requires(value) else None)

    def _shown(self, name: str) -> Any:
        """Return what a node shows under a name though no formula needs it."""
        if name in self.arguments:
            return self._save(name, None)
        argument, _, what = name.partition("_sym_")
        return self._constant(self.arguments[argument], what)

    def _add(self, formula: Formula) -> None:
        places = []
        needs = -1
        for parameter in formula.parameters:
            if parameter in ("grads", "grad"):
                places.append(0 if parameter == "grads" else 1)
                continue
            name = parameter if parameter != "needs" else "needs:" + ",".join(formula.arguments)
            if name not in self.places:
                self.places[name] = len(self.environment)
                self.environment.append(self._save(parameter, formula))
            places.append(self.places[name])
            if parameter == "needs":
                needs = self.places[name]
        counts = [len(self.positions.get(name, ())) for name in formula.arguments]
        targets = [place for name in formula.arguments for place in self.positions.get(name, ())]
        first = self.wanted.values[self.arguments[formula.arguments[0]]]
        listed = formula.joint or isinstance(first, (list, tuple))
        self.formulas.append(
            PlannedFormula(formula.fn, _selection(places), targets, listed, 1 in places, places, needs, counts)
        )

    def _save(self, parameter: str, formula: Formula | None) -> Any:
        """Return the parameter's constant; note a save for what differs from call to call."""
        place = len(self.environment)
        if parameter == "needs" and formula is not None:
            return tuple(requires(self.wanted.values[self.arguments[name]]) for name in formula.arguments)
        if parameter.startswith("result") and parameter not in self.arguments:
            self.saves.append(Save(SaveKind.RESULT, int(parameter[6:] or 0), place))
            return None
        index = self.arguments.get(parameter)
        if index is not None:
            value, source = self.wanted.values[index], self.wanted.sources[index]
            kind = _kind(value, source)
            if kind is None:
                return self._constant(index, None)
            self.saves.append(Save(kind, source, place))
            return None
        name, _, what = parameter.rpartition("_")
        index = self.arguments[name]
        if what == "offset":
            self.saves.append(Save(SaveKind.OFFSET, self.wanted.sources[index], place))
            return None
        return self._constant(index, "")

    def _constant(self, index: int, what: str | None) -> Any:
        """Return what every call of the plan has at an argument; note it, as a call of other sizes has another one."""
        self.constants.append((len(self.environment), index, what))
        return constant_of(self.wanted.values[index], what)


def constant_of(value: Any, what: str | None) -> Any:
    """Return the value itself for None, its geometry for "", else the named part of its geometry."""
    if what is None:
        return value
    if what:
        return geometry(value._sig.spec, what) if isinstance(value, TensorBase) else ()
    if isinstance(value, (list, tuple)):
        return [item._sig.spec if isinstance(item, TensorBase) else item for item in value]
    return value._sig.spec if isinstance(value, TensorBase) else value


def _selection(places: list[int]) -> Callable[..., Any]:
    """Return the function that takes the items at `places` out of a list."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0, 0))


def _kind(value: object, source: int | None) -> SaveKind | None:
    """Return how a value that differs from call to call is saved, None for a constant of the plan."""
    if isinstance(value, TensorBase):
        return SaveKind.TENSOR
    if isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
        return SaveKind.LIST
    if source is not None and isinstance(value, (int, float, complex)) and not isinstance(value, bool):
        return SaveKind.SCALAR
    return None


def requires(value: Any) -> bool:
    """True for a tensor that requires grad and a list with one."""
    if isinstance(value, TensorBase):
        return value._sig.requires_grad
    return isinstance(value, (list, tuple)) and any(requires(item) for item in value)
