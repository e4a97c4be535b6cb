"""A plan that met an operand without memory, or found none for a result, is run another way, or again."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.deferred import wait_for_missing
from mindtorch_storage.storage.memory import no_memory_of
from mindtorch_storage.tensor_base import check_bytes, has_math_bits, shares_bytes

from ..arguments.bound import tensor_leaves
from ..override.handlers import dispatches
from ..plan import Plan
from .many_dimensions import fill_in_a_row, filled_in_a_row
from .reading import run_reading

RETRIED = (AttributeError, MemoryError, TypeError)
"""What a run raises that met an operand without memory, and where there is none for a result."""


def run_again(plan: Plan, flat: tuple[Any, ...], error: AttributeError | MemoryError | TypeError) -> Any:
    """Run a plan again that met a tensor whose bytes another thread's pipeline had yet to make; else raise `error`, or
    torch's error where there is no memory, for the result or of an operand whose storage was shortened.

    Operands are fetched before anything is written, so a second run starts where the first did. A tensor that is no
    operand of this call would be waiting again in the next run: that is an error of the code that read it.
    """
    if isinstance(error, MemoryError):
        raise no_memory_of(error) from None
    if not isinstance(error, AttributeError) or error.obj is None:  # an operand's array that is not there
        check_bytes(one for one in tensor_leaves(flat) if not dispatches(type(one)))  # those never have bytes
        raise error
    if (shares_bytes(error.obj) or has_math_bits(error.obj)) and any(one is error.obj for one in tensor_leaves(flat)):
        return run_reading(plan, flat)
    if filled_in_a_row(plan, error.obj):
        return fill_in_a_row(plan, flat)
    while any(one is error.obj for one in tensor_leaves(flat)) and wait_for_missing(error):
        try:
            return plan.run(plan, flat)
        except AttributeError as again:
            error = again
        except MemoryError as again:
            raise no_memory_of(again) from None
    raise error
