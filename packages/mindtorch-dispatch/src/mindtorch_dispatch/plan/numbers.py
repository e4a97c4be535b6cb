"""Calls of elementwise functions on Python numbers alone: torch makes tensors of no dimensions of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import complex128, float64

from ..arguments.parameter import INT64
from ..extend.overloads import namespace
from ..interface.wiring import wired
from ..meta.factory import dtype_of_number
from .call import Call


def of_numbers(call: Call) -> Callable[..., Any] | None:
    """Return what answers a call whose Tensor arguments are all numbers; None for any other call."""
    if call.tensors:
        return None
    row, arguments = call.row, call.row.schema.arguments
    places = [
        place
        for place, (argument, value) in enumerate(zip(arguments, call.bound.values, strict=True))
        if argument.type.kind == "Tensor" and isinstance(value, (int, float, complex))
    ]
    if not places:
        return None
    call.bound.cacheable = False  # the methods, which take no number for self, share the function's keys
    names = [argument.name for argument in arguments]
    split = next((place for place, argument in enumerate(arguments) if argument.kwarg_only), len(names))

    def composed(*given: object) -> Any:
        values = list(given)
        for place in places:
            values[place] = _as_tensor(values[place])
        return wired.call_overload(row, tuple(values[:split]), dict(zip(names[split:], values[split:], strict=True)))

    return composed


def _as_tensor(value: object) -> Any:
    aten = namespace("aten")
    if isinstance(value, int):
        if value not in INT64:
            raise OverflowError("int too big to convert")
        return aten.scalar_tensor(value, dtype=dtype_of_number(value))
    # A number too large for the default dtype becomes infinite.
    wide = complex128 if isinstance(value, complex) else float64
    return aten._to_copy(aten.scalar_tensor(value, dtype=wide), dtype=dtype_of_number(value))
