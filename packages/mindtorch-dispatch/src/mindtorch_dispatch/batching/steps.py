"""The calls that a rule makes for one geometry, kept so that later calls of that geometry need no rule.

A rule decides by geometry and by the call's constants alone. So what it called once it calls again: `Tape` notes it, by
where every tensor came from, and `Steps` does it anew. Rules call operators by the `aten` and `invoke` of this module.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..call import aten as operators
from ..call import call_overload
from ..extend.overloads import OpOverload, overload_of
from ..table import DYNAMIC, OpRow


class _Local(threading.local):
    tape: Tape | None = None


_local = _Local()


class Operator:
    """An operator, or an overload of one, whose calls are noted while a tape runs."""

    def __init__(self, called: Any) -> None:
        self._called = called

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tape = _local.tape
        return self._called(*args, **kwargs) if tape is None else tape.call(self._called, args, kwargs)

    def __getattr__(self, overload: str) -> Operator:
        made = self.__dict__[overload] = Operator(getattr(self._called, overload))
        return made


class _Operators:
    def __getattr__(self, name: str) -> Operator:
        made = self.__dict__[name] = Operator(getattr(operators, name))
        return made


aten: Any = _Operators()
"""The built-in operators, for rules."""


def invoke(row: OpRow, values: Sequence[Any]) -> Any:
    """Call an overload with its arguments in schema order."""
    count, names = row.call_form
    args, kwargs = tuple(values[:count]), dict(zip(names, values[count:], strict=True))
    tape = _local.tape
    if tape is None or "::" in row.packet:
        give_up()
        return call_overload(row, args, kwargs)
    return tape.call(overload_of(row), args, kwargs)


def give_up() -> None:
    """Say that what runs now cannot be done anew by its calls alone."""
    if _local.tape is not None:
        _local.tape.whole = False


class Step:
    """One call: `given` has its constants; `fills` and `lists` say where the tensors among them come from.

    `several` results are put down one by one. `done` are the places that nothing reads afterwards.
    """

    __slots__ = ("called", "done", "fills", "given", "lists", "named", "several")

    def __init__(self, called: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> None:
        self.called = called
        self.given = given
        self.named = named
        self.fills: list[tuple[int, int]] = []
        self.lists: list[tuple[int, list[int | None]]] = []
        self.several = False
        self.done: list[int] = []

    def reads(self) -> set[int]:
        """Return the places whose tensors it is given."""
        return {place for _, place in self.fills} | {p for _, many in self.lists for p in many if p is not None}


class Tape:
    """Notes the calls of a rule that is given `inputs`; `whole` while they say all that it does."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self.whole = True
        self.steps: list[Step] = []
        self.tensors: list[Any] = list(inputs)  # held, so that no other gets the number of one
        self.places: dict[int, int] = {}
        for place, one in enumerate(inputs):
            self.places.setdefault(id(one), place)

    def __enter__(self) -> None:
        self.before, _local.tape = _local.tape, self

    def __exit__(self, *exc_info: object) -> None:
        _local.tape = self.before

    def call(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call and note it; what the call itself calls is not the rule's."""
        _local.tape = None
        try:
            result = called(*args, **kwargs)
        finally:
            _local.tape = self
        self.whole = self.whole and self._note(called, args, kwargs, result)
        return result

    def _note(self, called: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> bool:
        rows = (called.row,) if isinstance(called, OpOverload) else called.packet.rows
        if any(DYNAMIC in row.tags for row in rows) or any(isinstance(one, TensorBase) for one in kwargs.values()):
            return False
        step = Step(called, list(args), kwargs)
        for at, value in enumerate(args):
            if isinstance(value, TensorBase):
                step.given[at] = None
                step.fills.append((at, self.places.get(id(value), -1)))
            elif isinstance(value, (list, tuple)):
                step.given[at] = list(value)
                if any(isinstance(item, TensorBase) for item in value):
                    places = [None if item is None else self.places.get(id(item), -1) for item in value]
                    step.lists.append((at, places))
                    step.given[at] = None
        step.several = isinstance(result, (list, tuple))
        results = result if step.several else (result,)
        if -1 in step.reads() or not all(one is None or isinstance(one, TensorBase) for one in results):
            return False
        for one in results:
            if one is not None:
                self.places.setdefault(id(one), len(self.tensors))
            self.tensors.append(one)
        self.steps.append(step)
        return True

    def finished(self, results: Sequence[Any]) -> Steps | None:
        """Return the steps that make `results`, None where the noted calls do not make them."""
        if not self.whole:
            return None
        places: list[int | None] = []
        for one in results:
            place = None if one is None else self.places.get(id(one), -1)
            if place == -1:
                return None
            places.append(place)
        seen = set(places)
        for step in reversed(self.steps):
            step.done = sorted(step.reads() - seen)
            seen |= step.reads()
        return Steps(self.steps, places)


class Steps:
    """What a rule does for one geometry: calls, and where among the inputs and their results its own results are."""

    __slots__ = ("places", "steps")

    def __init__(self, steps: list[Step], places: list[int | None]) -> None:
        self.steps = steps
        self.places = places

    def run(self, tensors: list[Any]) -> list[Any]:
        """Return the results for other inputs of the same geometry; `tensors` is used up."""
        for step in self.steps:
            given = step.given.copy()
            for at, place in step.fills:
                given[at] = tensors[place]
            for at, places in step.lists:
                given[at] = [None if place is None else tensors[place] for place in places]
            result = step.called(*given, **step.named) if step.named else step.called(*given)
            if step.several:
                tensors.extend(result)
            else:
                tensors.append(result)
            for place in step.done:
                tensors[place] = None
        return [None if place is None else tensors[place] for place in self.places]
