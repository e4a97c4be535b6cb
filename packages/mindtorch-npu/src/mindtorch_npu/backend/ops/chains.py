"""Chains of pointwise steps over lists of tensors: one launch for each step, however many tensors there are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from mindtorch_dispatch.execute.chain import NUMBERS, Chain
from mindtorch_dispatch.extend import devices
from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.ops.lists import FLOATS, available, row_of

STEPS = {
    "neg": "Neg", "sqrt": "Sqrt", "abs": "Abs", "reciprocal": "Reciprocal", "mul": "MulList", "div": "DivList",
    "maximum": "MaximumList", "add_scaled": "AddListV2", "sub_scaled": "SubListV2", "lerp": "LerpScalar",
    "add_number": "AddScalarV2", "sub_number": "SubScalarV2", "mul_number": "MulScalarV2", "div_number": "DivScalarV2",
    "addcmul": "AddcmulScalarV2", "addcdiv": "AddcdivScalarV2",
}  # fmt: skip
"""The operator over lists of each step; all but `adam_stepwise`, which is several, and those that are not here."""


class Launch(NamedTuple):
    """One launch of a compiled chain: operator, the slot written, the slots read, and which number it takes, if one."""

    operator: str
    out: str
    operands: tuple[str, ...]
    number: int | None


def _adam(out: str, operands: Sequence[str], first: int) -> list[Launch]:
    """Return the launches of `adam_stepwise`, in the order of the operators that it stands for."""
    grad, mean, square, largest = operands
    launches = [
        Launch("LerpScalar", mean, (mean, grad), first),
        Launch("MulScalarV2", square, (square,), first + 1),
        Launch("AddcmulScalarV2", square, (square, grad, grad), first + 2),
    ]
    second = square
    if largest != out:
        launches.append(Launch("MaximumList", largest, (largest, square), None))
        second = largest
    return [
        *launches,
        Launch("Sqrt", "?root", (second,), None),
        Launch("DivScalarV2", "?root", ("?root",), first + 3),
        Launch("AddScalarV2", "?root", ("?root",), first + 4),
        Launch("AddcdivScalarV2", out, (out, mean, "?root"), first + 5),
    ]


@cache  # chains are few, and kept by those who say them; what a chain itself keeps is the host's form of it
def _compiled(chain: Chain) -> list[Launch] | None:
    """Return the launches of a chain, None where the vendor's operators over lists lack a step."""
    made: list[Launch] = []
    taken = 0
    for operation, out, *operands in chain.steps:
        if operation == "adam_stepwise":
            made += _adam(out, operands, taken)
        elif operation in STEPS:
            made.append(Launch(STEPS[operation], out, tuple(operands), taken if operation in NUMBERS else None))
        else:
            return None
        taken += NUMBERS.get(operation, 0)
    return made


def _fits(arrays: Sequence[Sequence[Any]]) -> bool:
    """Return whether the operators take these lists: one device and one type of float, item by item of one shape."""
    first = arrays[0][0]
    if not isinstance(first, DeviceArray) or first.dtype.name not in FLOATS:
        return False
    for items in zip(*arrays, strict=True):
        for one in items:
            if not isinstance(one, DeviceArray) or one.dtype != first.dtype or one.shape != items[0].shape:
                return False
            if one.device != first.device or not one.size:
                return False
    return True


def run_chain(chain: Chain, lists: tuple[list[Any], ...], numbers: tuple[float, ...]) -> bool:
    """Run a chain on lists of tensors, a list for every slot; False, with nothing done, where that cannot be."""
    launches = _compiled(chain)
    if launches is None:
        return False
    if not all(devices.plain(tensors) for tensors in lists):
        return False
    arrays = [[tensor._array for tensor in tensors] for tensors in lists]
    if not _fits(arrays) or not all(available(f"aclnnForeach{one.operator}") for one in launches):
        return False
    slots = {name: [row_of(one) for one in items] for name, items in zip(chain.slots, arrays, strict=True)}
    for one in launches:
        operands = [slots[name] for name in one.operands]
        if one.out not in slots:  # a temporary
            slots[one.out] = [new_array(item.shape, item.dtype, item.device) for item in operands[0]]
        rest = [] if one.number is None else [float(numbers[one.number])]
        launch(f"aclnnForeach{one.operator}", [*operands, *rest, slots[one.out]])
    devices.note_writes(lists, bytes(chain.writes))
    return True


devices.chains["npu"] = run_chain

__all__ = ["run_chain"]
