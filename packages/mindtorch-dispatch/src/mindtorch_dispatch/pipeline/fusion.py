"""Fusion: neighbours in the queue whose results go row by row are run together, block by block.

Whether an op may be cut is said by its meta rule (`leading`), nothing here knows an op. A group grows along the queue
while its ops agree on their first dimensions; `blocks` then runs it. A value that only the group uses is never made in
full: it lives in a block-sized buffer. What keeps the order of the program: records are only ever joined with their
neighbours; what lies over a written tensor's memory in another geometry ends the group; random draws are not joined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_storage.deferred import wait_for
from mindtorch_storage.references import count_holders
from mindtorch_storage.tensor_base import TensorBase, has_bytes

from ..typing import Tensor
from .blocks import BlockRun, Step
from .record import Record, fill_alias, fill_inplace, fill_kernel, fill_view, retry

SMALLEST = 32768
"""A group works on at least so many elements; below, memory traffic is not what takes the time."""

LONGEST_ROW = 1 << 17
"""Rows of more elements than this do not stay in the cache, so joining what needs whole rows gains nothing."""


def leading_dims(record: Record) -> int:
    """Return along how many first dimensions the record may be cut, 0 when it must run alone."""
    fill, plan, flat, result = record[:4]
    if fill is not fill_kernel and fill is not fill_inplace:
        return 0
    leading = getattr(plan.row.meta, "leading", None)
    if leading is None or plan.lists or result._sig.spec.device.type != "cpu":
        return 0
    ndim = result._sig.spec.ndim
    for _, source in plan.tensors:
        spec = flat[source]._sig.spec
        if spec.device.type != "cpu" or spec.ndim > ndim:
            return 0
    return int(leading(ndim, plan.values))


def domain(record: Record) -> tuple[int, ...]:
    """Return the largest shape among the result and the operands of its rank."""
    shape = record[3]._sig.spec.shape
    for _, source in record[1].tensors:
        other = record[2][source]._sig.spec.shape
        if len(other) == len(shape) and math.prod(other) > math.prod(shape):
            shape = other
    return tuple(shape)


def common(one: Sequence[int], other: Sequence[int], limit: int) -> int:
    """Return how many first extents, at most `limit`, are equal."""
    for place in range(limit):
        if one[place] != other[place]:
            return place
    return limit


class Group:
    """Records that run together.

    `length` counts the records taken off the queue; `late` are those of them that come after the steps. `shape` is the
    largest shape met, of which the first `cut` extents are common to all results. `places` maps the identity of a tensor
    to its place among the group's values, `made` has the places of those that the group makes.
    """

    def __init__(self) -> None:
        self.length = 0
        self.steps: list[Step] = []
        self.records: list[Record] = []
        self.late: list[Record] = []
        self.shape: tuple[int, ...] = ()
        self.cut = 0
        self.tensors: list[Any] = []
        self.places: dict[int, int] = {}
        self.made: set[int] = set()
        self.written: list[int] = []
        self.late_ids: set[int] = set()

    def takes(self, record: Record) -> bool:
        """Add the record when it fits; False when it does not."""
        cut = leading_dims(record)
        if cut == 0:
            return False
        shape = domain(record)
        if self.steps:
            if len(shape) != len(self.shape):
                return False
            cut = common(shape, self.shape, min(cut, self.cut))
            if cut == 0:
                return False
        longer = shape if math.prod(shape) > math.prod(self.shape) or not self.steps else self.shape
        if self.steps and cut < self.cut and math.prod(longer[cut:]) > LONGEST_ROW:
            return False
        operands = [record[2][source] for _, source in record[1].tensors]
        if any(id(operand) in self.late_ids for operand in operands) or not self._apart(record, operands):
            return False
        self.shape, self.cut = longer, cut
        self._add(record)
        return True

    def _apart(self, record: Record, operands: list[Any]) -> bool:
        """True when no tensor that is written meets its memory in another geometry."""
        inside = [self.tensors[place] for place in self.places.values() if place not in self.made]
        if record[0] is fill_inplace:
            target = record[3]
            if self.places.get(id(target)) in self.made:
                return True
            return all(_apart(target, other) for other in (*inside, *operands))
        written = [self.tensors[place] for place in self.written if place not in self.made]
        return all(_apart(target, other) for target in written for other in operands if id(other) not in self.places)

    def _place(self, tensor: Tensor) -> int:
        place = self.places.get(id(tensor))
        if place is None:
            place = self.places[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
        return place

    def _add(self, record: Record) -> None:
        fill, plan, flat, result = record[:4]
        operands = tuple((index, self._place(flat[source])) for index, source in plan.tensors)
        out = self._place(result)
        if fill is fill_kernel:
            self.made.add(out)
        else:
            self.written.append(out)
        self.records.append(record)
        self.steps.append(Step(plan, flat, operands, out))

    def takes_late(self, record: Record) -> bool:
        """Keep a record that only lays a tensor over bytes: aliases of the group's values come after the group, other
        views come before it. False when it must end the group."""
        if record[0] is not fill_alias and record[0] is not fill_view:
            return False
        source = self.places.get(id(record[2][0]))
        inside = source is not None and source in self.made
        if record[0] is fill_alias and inside:
            self.late.append(record)
            self.late_ids.add(id(record[3]))
            return True
        if inside or not has_bytes(record[2][0]):
            return False
        record[0](record[1], record[2], record[3])
        return True


def _apart(one: Any, other: TensorBase) -> bool:
    """True when two tensors are one, cover the same elements in the same way, or share no memory."""
    if one is other or not has_bytes(one) or not has_bytes(other):
        return True
    a, b = one._array, other._array
    same = a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides
    return (same and a.shape == b.shape and a.dtype == b.dtype) or not np.may_share_memory(a, b)


def references(records: Sequence[Record]) -> Counter[int]:
    """Return how often each tensor is referred to by the records."""
    found: Counter[int] = Counter()
    for record in records:
        result = record[3]
        if isinstance(result, TensorBase):
            found[id(result)] += 1
        for value in record[2]:
            if isinstance(value, TensorBase):
                found[id(value)] += 1
            elif isinstance(value, (list, tuple)):
                found.update(id(item) for item in value if isinstance(item, TensorBase))
    return found


class Batch:
    """The records of one flush. `at` is the place of the record that runs."""

    def __init__(self, records: list[Record]) -> None:
        self.records: list[Any] = records
        self.at = 0
        self._references = references(records)

    def run(self) -> None:
        """Run all records in order, neighbours together where that is possible."""
        place = 0
        while place < len(self.records):
            group = self._grown(place)
            if len(group.steps) > 1 and math.prod(group.shape) >= SMALLEST:
                place = self._run_group(place, group)
            else:
                place = self._run_singly(place, place + max(1, group.length))

    def _grown(self, start: int) -> Group:
        group = Group()
        for place in range(start, len(self.records)):
            self.at = place
            record = self.records[place]
            if not group.takes(record) and not (group.steps and group.takes_late(record)):
                break
            group.length += 1
        return group

    def _run_singly(self, start: int, end: int) -> int:
        for place in range(start, end):
            self.at = place
            record = self.records[place]
            try:
                record[0](record[1], record[2], record[3])
            except AttributeError as error:
                retry(record, error)
            self._forget(place)
        return end

    def _forget(self, place: int) -> None:
        """Let go of what a record kept alive."""
        self._references.subtract(references([self.records[place]]))
        self.records[place] = None

    def _run_group(self, start: int, group: Group) -> int:
        end = start + group.length
        places = [place for place in range(start, end) if any(self.records[place] is one for one in group.records)]
        arrays, inner = self._arrays(group)
        run = BlockRun(group.steps, arrays, inner, group.shape, group.cut)
        try:
            run.run()
        except Exception:
            if all(place in group.made for place in group.written):
                return self._run_singly(start, end)  # nothing of before is changed: the failing record shows itself
            self.at = places[run.step]
            raise
        for place, tensor in enumerate(group.tensors):
            if place in group.made and arrays[place] is not None:
                tensor._array, tensor._storage, tensor._pipe = arrays[place], None, None
            elif place in group.written:
                tensor._pipe = None
        for record in group.late:
            record[0](record[1], record[2], record[3])
        group.tensors.clear()
        for place in range(start, end):
            self._forget(place)
        return end

    def _arrays(self, group: Group) -> tuple[list[Any], dict[int, Any]]:
        """Return the arrays of the group's values, and the specs of those that need none: nobody else sees them."""
        inside = references(group.records)
        counts = [count_holders(group.tensors, place) for place in range(len(group.tensors))]
        plans = {step.out: step.plan for step in reversed(group.steps)}  # the first to write a value makes it
        arrays: list[Any] = []
        inner: dict[int, Any] = {}
        for place, tensor in enumerate(group.tensors):
            if place not in group.made:
                arrays.append(_array_of(tensor))
                continue
            known = self._references[id(tensor)]
            if known == inside[id(tensor)] and counts[place] - 1 <= known:
                inner[place] = tensor._sig.spec
                arrays.append(None)
            else:
                arrays.append(plans[place].alloc(plans[place].shape, plans[place].np_dtype))
        return arrays, inner


def _array_of(tensor: Tensor) -> Any:
    try:
        return tensor._array
    except AttributeError:
        wait_for(tensor)
        return tensor._array
