"""Warnings that torch gives of what is planned: targets whose elements share memory, results of a dtype in the making."""

from __future__ import annotations

import warnings

from mindtorch_storage.dtype import complex32
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import has_internal_overlap
from mindtorch_storage.tensor_base import TensorBase

from ..frames import frames_to_caller
from ..warn_once import is_always, warn_once
from .call import Call

NOTED = {
    "masked_fill_": "tensor[mask] = scalar",
    "index_fill_": "tensor[mask] = scalar",
    "index_put_": "tensor[indices] = tensor",
}
"""Operators that still write to elements that share memory, and the indexing that comes to them."""
_HALVES = "ComplexHalf support is experimental and many operators don't support it yet."
_SEARCHES = {
    "searchsorted": {"self": "input value", "sorted_sequence": "boundary", "sorter": "sorter"},
    "bucketize": {"self": "input value", "boundaries": "boundary"},
}
"""Operators that search in order, and what torch calls their operands."""
_COPIED = (
    "torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to extra data copy when "
    "converting non-contiguous tensor to contiguous, please use contiguous {what} tensor if possible. This message will only "
    "appear once per program."
)


def give_notice(call: Call) -> None:
    """Give the warnings of a call; one that is given at every call keeps its plan from being used again."""
    form = NOTED.get(call.row.packet)
    if form is not None and call.function is None:
        spec = call.tensors[0]._sig.spec
        if has_internal_overlap(spec.shape, spec.stride):
            call.bound.cacheable = False
            warnings.warn(
                f"Use of {call.row.packet} on expanded tensors is deprecated. Please clone() the tensor before performing this "
                f"operation. This also applies to advanced indexing e.g. {form}",
                UserWarning,
                stacklevel=frames_to_caller(),
            )
    if call.row.packet in _SEARCHES:
        _note_copies(call)
    specs = call.answer.specs
    made = specs if isinstance(specs, list | tuple) else (specs,)  # views make nothing
    if any(isinstance(one, Spec) and one.dtype is complex32 for one in made):
        call.bound.cacheable = call.bound.cacheable and not is_always()
        warn_once(_HALVES)


def _note_copies(call: Call) -> None:
    """Say which operands of a search are copied first, as they do not lie one element after the other."""
    values = dict(zip((one.name for one in call.row.schema.arguments), call.bound.values, strict=False))
    for name, what in _SEARCHES[call.row.packet].items():
        operand = values.get(name)
        if isinstance(operand, TensorBase) and not operand._sig.spec.is_contiguous:
            call.bound.cacheable = call.bound.cacheable and not is_always()
            warn_once(_COPIED.format(what=what))
