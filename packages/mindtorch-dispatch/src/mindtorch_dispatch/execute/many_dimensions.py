"""Tensors on the CPU of more dimensions than numpy's arrays have, where nothing depends on the dimensions.

Such a tensor has no array: it is a geometry over its storage. What makes one from numbers alone, and what fills one with
numbers, needs its elements in one row only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_storage.deferred import MOST_DIMENSIONS
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import TensorBase, conceal, make_tensor

from ..plan import Plan
from ..table.tags import Tag, built_in_tags
from . import executor


def run_in_a_row(plan: Plan, flat: tuple[Any, ...]) -> TensorBase:
    """As `run_kernel` for a kernel without operands: the array that it fills has one dimension."""
    spec = plan.sig.spec
    array = np.empty(spec.numel, spec.np_dtype)
    plan.kernel(array, *executor.operands(plan, flat))
    storage = UntypedStorage._from_buffer(array.view(np.uint8))
    tensor = conceal(make_tensor(plan.cls, plan.sig, None, storage, 0, [0]), None)
    if plan.record is not None:
        plan.record(flat, tensor)
    return tensor


_ELEMENTWISE = frozenset((Tag.pointwise, Tag.nondeterministic_seeded))
_FILLS = ("fill_.Scalar", "zero_")  # torch does not tag them


def filled_in_a_row(plan: Plan, tensor: object) -> bool:
    """Return whether a plan changes the elements of a tensor of so many dimensions, each by itself or to random numbers."""
    if not isinstance(tensor, TensorBase) or plan.run is not executor.run_inplace:
        return False
    spec = tensor._sig.spec
    if spec.ndim <= MOST_DIMENSIONS or not spec.is_contiguous or plan.lists:
        return False
    alone = all(source == plan.source for _, source in plan.tensors)
    return alone and (plan.row.name in _FILLS or not _ELEMENTWISE.isdisjoint(built_in_tags(plan.row.schema)))


def fill_in_a_row(plan: Plan, flat: tuple[Any, ...]) -> TensorBase:
    """As `run_inplace`, for such a plan."""
    target: TensorBase = flat[plan.source]
    kept = plan.before(flat) if plan.before is not None else None
    spec, storage = target._sig.spec, target._materialized_storage()
    row = np.ndarray((spec.numel,), spec.np_dtype, storage.buffer, target._offset * spec.itemsize)
    values = plan.values.copy()
    for index, _ in plan.tensors:
        values[index] = row
    if plan.prepare is not None:
        plan.prepare(plan, values, flat)
    plan.kernel(row, *values)
    target._counter[0] += 1
    if plan.record is not None:
        plan.record(flat, target, kept)
    return target
