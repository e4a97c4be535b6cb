"""Chains of pointwise steps, and operators over lists of tensors, by the native module in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from mindtorch_dispatch.execute.chain import NUMBERS, Chain
from mindtorch_dispatch.extend import devices

_NAMES = {
    1: {"neg": "neg", "sqrt": "sqrt", "abs": "abs", "reciprocal": "reciprocal"},
    2: {"mul": "mul", "div": "div", "add": "add_scaled", "sub": "sub_scaled", "lerp": "lerp"},
    3: {"addcmul": "addcmul", "addcdiv": "addcdiv"},
}
_BY_NUMBER = {"add": "add_number", "sub": "sub_number", "mul": "mul_number", "div": "div_number"}
"""What the operators of `mindtorch_dispatch.decomp.foreach` are called as steps, by how many lists they take."""


def _compile(chain: Chain, operations: tuple[str, ...]) -> bytes:
    """Return the steps as native/kernels/foreach.h has them: eight bytes each."""
    names = list(chain.slots)
    made = bytearray()
    taken = 0
    for operation, out, *operands in chain.steps:
        if out not in names:
            names.append(out)
        places = [names.index(name) for name in operands]
        places += [names.index(out)] * (4 - len(places))
        made += bytes((operations.index(operation), names.index(out), *places, taken, 0))
        taken += NUMBERS.get(operation, 0)
    return bytes(made)


def install(module: Any) -> None:
    """Let lists of host tensors be computed by the native module."""

    @cache
    def single(operation: str, lists: int) -> bytes:
        """Return the chain of one step from `lists` slots into the first."""
        slots = ["out", "first", "second", "third"][: lists + 1]
        return _compile(Chain(" ".join(slots), (operation, *slots)), module.CHAIN_OPERATIONS)

    def run_chain(chain: Chain, lists: tuple[list[Any], ...], numbers: tuple[float, ...]) -> bool:
        if chain.compiled is None:
            chain.compiled = _compile(chain, module.CHAIN_OPERATIONS), bytes(chain.writes)
        steps, writes = chain.compiled
        arrays = devices.plain_arrays(lists)
        if arrays is None or not module.chain(steps, arrays, numbers):
            return False
        devices.note_writes(lists, writes)
        return True

    def over_lists(name: str, outs: Sequence[Any], lists: Sequence[Sequence[Any]], number: Any) -> bool:
        by_number = len(lists) == 1 and number is not None
        operation = _BY_NUMBER.get(name) if by_number else _NAMES[len(lists)].get(name)
        if operation is None or not (number is None or type(number) is float or type(number) is int):
            return False
        if operation in ("mul", "div") and number != 1:
            return False
        arrays = tuple([tensor._array for tensor in tensors] for tensors in (outs, *lists))
        return module.chain(single(operation, len(lists)), arrays, () if number is None else (number,))

    devices.chains["cpu"] = run_chain
    devices.list_kernels["cpu"] = over_lists
