"""Chains: pointwise steps over tensors of one geometry that a device may run in one pass over memory.

A chain is said once, as steps on named slots. Where the device has a way to run it (`devices.chains`) and nothing wants
to see the single operators, one call does what they would do, rounding as they do, versions included. Where not, the
caller calls the operators.
"""

from __future__ import annotations

from typing import Any

from ..extend import devices

OPERANDS = {
    "neg": 1, "sqrt": 1, "abs": 1, "reciprocal": 1, "mul": 2, "div": 2, "maximum": 2, "add_scaled": 2, "sub_scaled": 2,
    "lerp": 2, "add_number": 1, "sub_number": 1, "mul_number": 1, "div_number": 1, "addcmul": 3, "addcdiv": 3,
    "adam": 4, "adam_stepwise": 4, "adagrad": 2,
}  # fmt: skip
"""How many slots each step reads."""

ALSO_WRITTEN = {"adam": (1, 2, 3), "adam_stepwise": (1, 2, 2, 3), "adagrad": (1,)}
"""Which of its operands a step writes besides `out`, twice where the operators in whose place it stands do that. An operand
that is `out` is not written again."""

NUMBERS = {
    "add_scaled": 1, "sub_scaled": 1, "lerp": 1, "add_number": 1, "sub_number": 1, "mul_number": 1, "div_number": 1,
    "addcmul": 1, "addcdiv": 1, "adam": 9, "adam_stepwise": 6, "adagrad": 4,
}  # fmt: skip
"""How many numbers a step takes; they are given to `run` in the order of the steps."""


class Chain:
    """Steps `(operation, out, *operands)` over the slots `slots`; names beyond those are temporaries."""

    __slots__ = ("compiled", "slots", "steps", "writes")

    def __init__(self, slots: str, *steps: tuple[str, ...]) -> None:
        self.slots = tuple(slots.split())
        self.steps = steps
        names = self.slots
        for operation, out, *operands in steps:
            if len(operands) != OPERANDS[operation]:
                raise ValueError(f"{operation} takes {OPERANDS[operation]} operands, not {len(operands)}")
            if unknown := set(operands) - set(names):
                raise ValueError(f"{operation} reads {', '.join(sorted(unknown))}, which nothing has written")
            names = (*names, *(() if out in names else (out,)))
        self.writes = tuple(
            self.slots.index(name)
            for operation, out, *operands in steps
            for name in (out, *(operands[place] for place in ALSO_WRITTEN.get(operation, ()) if operands[place] != out))
            if name in self.slots
        )
        self.compiled: Any = None  # the device's form of it

    def run(self, lists: tuple[list[Any], ...], numbers: tuple[float, ...]) -> bool:
        """Run the chain on a list of tensors for every slot; False, with nothing done, where that cannot be.

        All its tensors must be of one device, dtype and, item by item, geometry.
        """
        run = devices.chains.get(lists[0][0]._sig.spec.device.type)
        return run is not None and run(self, lists, numbers)


def are_numbers(*values: object) -> bool:
    """Return whether all are Python numbers, which is what a chain takes."""
    return all(type(value) is float or type(value) is int for value in values)
