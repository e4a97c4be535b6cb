"""Writes whose operands share memory with the target: the same elements may be read, or none, as torch has it for the op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import is_non_overlapping_and_dense
from mindtorch_storage.tensor_base import TensorBase

from ..apart import COLUMN, COPIED, PARTLY, WHOLLY, Apart
from .call import Call
from .plan import Plan


def _same_memory(one: TensorBase, two: TensorBase) -> bool:
    """Views of one memory share their version counter; those made by `data` and `set_` share the storage alone."""
    if one._counter is two._counter:
        return True
    storage = getattr(one, "_storage", None)  # not there before the recorded call that makes the tensor has run
    return storage is not None and storage is getattr(two, "_storage", None)


def check_overlap(target: TensorBase, other: TensorBase, kind: str = PARTLY, written: Spec | None = None) -> None:
    """Raise torch's RuntimeError when `other` covers part of the memory of `target`, or all of it in another order.

    The same elements in the same order are allowed unless `kind` is WHOLLY. As in torch, only tensors without gaps are
    looked at. `written` is the geometry that the target is about to have, where that is another one.
    """
    if _meet(target, other, kind, written):
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def _meet(target: TensorBase, other: TensorBase, kind: str, written: Spec | None) -> bool:
    whole = kind != WHOLLY
    if target is other:
        return not whole  # even without elements
    one, two = written or target._sig.spec, other._sig.spec
    if not one.numel or not two.numel or not _same_memory(target, other):
        return False
    if not all(spec.is_contiguous or is_non_overlapping_and_dense(spec.shape, spec.stride) for spec in (one, two)):
        return False
    start, begin = target._offset * one.itemsize, other._offset * two.itemsize
    if start >= begin + two.nbytes or begin >= start + one.nbytes:
        return False
    same = start == begin and one.nbytes == two.nbytes and one.stride == _stride(two, one, kind)
    return not (whole and same)


def _stride(operand: Spec, result: Spec, kind: str) -> tuple[int, ...]:
    """Return the strides of an operand, of a column with those of its dimension of one element where the result has it."""
    column = kind == COLUMN and result.ndim == operand.ndim + 1 and result.shape[-1] == 1
    return (*operand.stride, result.stride[-1]) if column else tuple(operand.stride)


class Look:
    """Looks at the operands of a call, which may share memory with what it writes.

    `others` and `lists` are the operands and the lists of operands that are looked at: where they stand in the call, and how
    far they have to lie apart.
    """

    __slots__ = ("lists", "others")

    def __init__(self, plan: Plan, apart: Apart, but: object = None) -> None:
        self.others = _chosen(plan.tensors, apart, but)
        self.lists = _chosen(plan.lists, apart, but)

    def __bool__(self) -> bool:
        return bool(self.others or self.lists)

    def __call__(self, target: TensorBase, flat: tuple[Any, ...], written: Spec | None = None) -> None:
        """Raise torch's RuntimeError for an operand that does not lie far enough apart from the target."""
        for place, kind in self.others:
            _check(target, flat[place], kind, written)
        for place, kind in self.lists:
            for other in flat[place]:
                if isinstance(other, TensorBase):
                    _check(target, other, kind, written)


class OverlapCheck:
    """The `before` of an in-place plan that also looks at operands; nothing is to be seen where none shares its memory."""

    __slots__ = ("before", "look", "source")

    def __init__(self, before: Callable[..., Any] | None, source: int, look: Look) -> None:
        self.before = before
        self.source = source
        self.look = look

    def __call__(self, flat: tuple[Any, ...]) -> Any:
        """Return what the plan's own `before` gives; raises torch's RuntimeError for an overlap."""
        self.look(flat[self.source], flat)
        return self.before(flat) if self.before is not None else None


def _chosen(places: Sequence[tuple[int, Any]], apart: Apart, but: object) -> list[tuple[Any, str]]:
    kinds, every = apart.places, apart.every
    return [(place, kinds.get(index, every)) for index, place in places if place != but and kinds.get(index, every)]


def _check(target: TensorBase, other: TensorBase, kind: str, written: Spec | None) -> None:
    if kind == COPIED and other._sig.spec.shape != (written or target._sig.spec).shape:
        return
    check_overlap(target, other, kind, written)


def _apart(call: Call) -> Apart:
    """Return how far the operands of a call have to lie apart from what it writes."""
    found = call.row.apart
    return found if isinstance(found, Apart) else found(*call.specs())


def refusing_overlap(call: Call) -> Callable[..., Any] | None:
    """Return the `before` of an in-place plan that also refuses operands over the target's memory."""
    plan = call.plan
    look = Look(plan, _apart(call), plan.source)
    before: Callable[..., Any] | None = plan.before
    return OverlapCheck(before, plan.source, look) if look else before


def refuse_overlapping_out(call: Call) -> None:
    """Have the plan of a call with `out=` refuse operands over the memory of what it writes."""
    plan, source = call.plan, call.bound.out_source
    assert source is not None, "out= was given"
    apart = _apart(call)
    look = Look(plan, apart)
    if not look:
        return
    run, count, specs = plan.run, apart.results, call.answer.specs
    resized = apart.resized and specs is not None
    shapes = ([specs] if isinstance(specs, Spec) else list(specs)) if resized else []

    @wraps(run)
    def checked(plan: Plan, flat: tuple[Any, ...]) -> Any:
        given = flat[source]
        targets = (given,) if isinstance(given, TensorBase) else given
        for place, target in enumerate(targets[:count]):
            look(target, flat, _resized(target._sig.spec, shapes[place]) if resized else None)
        return run(plan, flat)

    plan.run = checked


def _resized(had: Spec, result: Spec) -> Spec | None:
    """Return the geometry of an `out=` tensor that takes a result, None where it keeps its own."""
    return None if had.shape == result.shape else Spec.of(had.dtype, had.device, result.shape, result.stride)
