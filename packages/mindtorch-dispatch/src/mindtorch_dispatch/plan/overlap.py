"""In-place writes whose operands share memory with the target: the same elements may be read, others may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.strides import is_non_overlapping_and_dense
from mindtorch_storage.tensor_base import TensorBase

from ..meta.rule import MetaRule
from .plan import Plan


def check_overlap(target: TensorBase, other: TensorBase, whole: bool = True) -> None:
    """Raise torch's RuntimeError when `other` covers part of the memory of `target`, or all of it in another order.

    The same elements in the same order are allowed if `whole`. As in torch, only tensors without gaps are looked at.
    """
    one, two = target._sig.spec, other._sig.spec
    if not one.numel or not two.numel or (whole and target is other):
        return
    if not all(is_non_overlapping_and_dense(spec.shape, spec.stride) for spec in (one, two)):
        return
    start, begin = target._offset * one.itemsize, other._offset * two.itemsize
    if start >= begin + two.nbytes or begin >= start + one.nbytes:
        return
    if whole and start == begin and one.nbytes == two.nbytes and one.stride == two.stride:
        return
    raise RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation."
    )


class OverlapCheck:
    """The `before` of an in-place plan that also looks at the operands at `others`, which may share the target's memory.

    Views of one memory share their version counter, so that nothing is computed for other operands. Those at `lists` are
    lists of operands.
    """

    __slots__ = ("before", "lists", "others", "source", "whole")

    def __init__(
        self, before: Callable[..., Any] | None, source: int, others: list[int], lists: list[int], whole: bool
    ) -> None:
        self.before = before
        self.source = source
        self.others = others
        self.lists = lists
        self.whole = whole

    def __call__(self, flat: tuple[Any, ...]) -> Any:
        """Return what the plan's own `before` gives; raises torch's RuntimeError for an overlap."""
        target = flat[self.source]
        for place in self.others:
            if flat[place]._counter is target._counter:
                check_overlap(target, flat[place], self.whole)
        for place in self.lists:
            for other in flat[place]:
                if isinstance(other, TensorBase) and other._counter is target._counter:
                    check_overlap(target, other, self.whole)
        return self.before(flat) if self.before is not None else None


def refusing_overlap(plan: Plan, meta: MetaRule) -> Callable[..., Any] | None:
    """Return the `before` of an in-place plan that also refuses operands over the target's memory.

    Elementwise ops may read the elements that they write, those that write at positions (`no_overlap`) may not.
    """
    read_first = meta.overlap_ok if isinstance(meta.overlap_ok, frozenset) else ()
    others = [place for index, place in plan.tensors if place != plan.source and index not in read_first]
    lists = [place for _, place in plan.lists]
    if not others and not lists:
        found: Callable[..., Any] | None = plan.before
        return found
    return OverlapCheck(plan.before, plan.source, others, lists, not meta.no_overlap)
