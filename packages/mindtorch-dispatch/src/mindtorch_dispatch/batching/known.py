"""What is known of a batched call once its geometry has been met: the steps of its rule, its results, its recorder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign
from typing import Any

from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from ..plan import Plan
from ..state import state
from .steps import Steps
from .wrapper import Batched, batched_class, example_spec

MOST = 64
"""How many geometries a plan knows at most; past it the table starts anew."""


class Known:
    """One geometry of a plan's calls.

    `dims` and `specs` are of the values that the results hold, `sigs` what the results are; `lifts` are the arguments that
    are recorded as tensors of the level without being any; `view` says that the results are views of the first.
    """

    __slots__ = ("dims", "lifts", "many", "recorder", "sigs", "specs", "steps", "view")

    def __init__(self, steps: Steps, view: bool) -> None:
        self.steps = steps
        self.view = view
        self.many = False
        self.dims: list[Any] = []
        self.specs: list[Spec | None] = []
        self.sigs: list[Any] = []
        self.lifts: list[int] = []
        self.recorder: Any = None

    def describe(self, values: Sequence[Any], made: Sequence[Any], many: bool) -> None:
        """Note what the results `made` of a call are."""
        self.many = many
        for value, one in zip(values, made, strict=True):
            self.dims.append(None if one is None else one._storage.dim)
            self.specs.append(None if one is None else value._sig.spec)
            self.sigs.append(None if one is None else one._sig)

    def wrapped(self, values: Sequence[Any], level: int) -> list[Any]:
        """Return the results that hold `values`."""
        cls = batched_class()
        made: list[Any] = []
        for value, dim, spec, sig in zip(values, self.dims, self.specs, self.sigs, strict=True):
            if value is None:
                made.append(None)
                continue
            if value._sig.spec is not spec:
                sig = example_spec(value, dim).plain.requiring(sig.requires_grad)
            inside: Any = Batched(value, dim, level)
            made.append(make_tensor(cls, sig, None, inside, value._offset, [0]))
        return made


def geometry(plan: Plan, values: Sequence[Any], level: int) -> tuple[Any, list[Any]] | None:
    """Return the part of a call's geometry that its plan's key leaves open, and the tensors that are at work in it.

    None for calls with a value that no key has.
    """
    key: list[Any] = [state.mode, level]
    tensors: list[Any] = []
    for index, _ in plan.tensors:
        _add(values[index], level, key, tensors)
    for index, _ in plan.lists:
        for value in values[index]:
            if value is None:
                key.append(None)
            elif isinstance(value, TensorBase):
                _add(value, level, key, tensors)
            else:
                return None
    for index, _ in plan.scalars:
        part = _PARTS.get(type(values[index]))
        if part is None:
            return None
        key.append(part(values[index]))
    numbers = [id(one) for one in tensors]
    if len(set(numbers)) < len(numbers):  # steps tell arguments apart by which tensors they are
        key.append(tuple([numbers.index(one) for one in numbers]))
    return tuple(key), tensors


def _add(value: Any, level: int, key: list[Any], tensors: list[Any]) -> None:
    if value._wraps and value._storage.level == level:
        held = value._storage
        value = held.value
        key.append(held.dim)
    else:
        key.append("whole")
    key.append(value._sig)
    key.append(value.__class__)
    tensors.append(value)


_PARTS: dict[type, Callable[[Any], Any]] = {
    int: lambda value: value,
    bool: lambda value: (bool, value),
    float: lambda value: (float, value, copysign(1.0, value)),
    complex: lambda value: (complex, repr(value)),
}
"""What a number contributes, so that equal parts are the same number."""
