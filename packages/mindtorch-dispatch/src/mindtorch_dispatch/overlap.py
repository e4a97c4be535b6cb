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


def refusing_overlap(plan: Plan) -> Callable[..., Any] | None:
    """Return the `before` of an elementwise in-place plan that also looks at operands which share the target's memory.

    Views of one memory share their version counter, so that nothing is computed for other operands.
    """
    before, source = plan.before, plan.source
    others = [place for _, place in plan.tensors if place != source]
    if not others:
        return before

    def checked(flat: tuple[Any, ...]) -> Any:
        target = flat[source]
        for place in others:
            if flat[place]._counter is target._counter:
                check_overlap(target, flat[place])
        return before(flat) if before is not None else None

    return checked
