"""In-place writes whose operands share memory with the target: the same elements may be read, others may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.strides import is_non_overlapping_and_dense
from mindtorch_storage.tensor_base import TensorBase

from .plan import Plan


def check_overlap(target: TensorBase, other: TensorBase) -> None:
    """Raise torch's RuntimeError when `other` covers part of the memory of `target`, or all of it in another order.

    As in torch, only tensors without gaps are looked at.
    """
    one, two = target._sig.spec, other._sig.spec
    if not one.numel or not two.numel or target is other:
        return
    if not all(is_non_overlapping_and_dense(spec.shape, spec.stride) for spec in (one, two)):
        return
    start, begin = target._offset * one.itemsize, other._offset * two.itemsize
    if start >= begin + two.nbytes or begin >= start + one.nbytes:
        return
    if start == begin and one.nbytes == two.nbytes and one.stride == two.stride:
        return
    raise RuntimeError(
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. Please clone() the tensor before performing the operation."
    )


class OverlapCheck:
    """The `before` of an in-place plan that also looks at the operands at `others`, which may share the target's memory.

    Views of one memory share their version counter, so that nothing is computed for other operands.
    """

    __slots__ = ("before", "others", "source")

    def __init__(self, before: Callable[..., Any] | None, source: int, others: list[int]) -> None:
        self.before = before
        self.source = source
        self.others = others

    def __call__(self, flat: tuple[Any, ...]) -> Any:
        """Return what the plan's own `before` gives; raises torch's RuntimeError for an overlap."""
        target = flat[self.source]
        for place in self.others:
            if flat[place]._counter is target._counter:
                check_overlap(target, flat[place])
        return self.before(flat) if self.before is not None else None


def refusing_overlap(plan: Plan) -> Callable[..., Any] | None:
    """Return the `before` of an elementwise in-place plan that also refuses operands over parts of the target's memory."""
    others = [place for _, place in plan.tensors if place != plan.source]
    return OverlapCheck(plan.before, plan.source, others) if others else plan.before
