"""Registration of CPU kernels.

A kernel is `fn(out, *values)`: it fills `out` (a numpy array of the planned shape, dtype and strides; a tuple of
arrays for several outputs) from the op's arguments in schema order, tensors as numpy arrays already converted to the
promoted dtype. It never allocates a result, checks, promotes or sees autograd. Ops tagged DYNAMIC have kernels
`fn(*values)` that return arrays. Ops that write their first argument get that array as `out` and again as first value.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from mindtorch_dispatch.table import register_kernel

from .number import number_of

Fn = TypeVar("Fn", bound=Callable[..., Any])


def kernel(*names: str, upcast: bool = True, aliases_ok: bool = False) -> Callable[[Fn], Fn]:
    """Decorator: register a CPU kernel for the rows `names`.

    Args:
        upcast: give float16/bfloat16 operands as float32 and round the result once. False for kernels that move or
            compare elements, and for those that do their own accumulation.
        aliases_ok: `out` may share memory with an operand (elementwise families declare this in their meta rule).
    """

    def register(fn: Fn) -> Fn:
        register_kernel("cpu", names, fn, upcast=upcast, aliases_ok=aliases_ok)
        return fn

    return register


def numbers(*places: int) -> Callable[[Fn], Fn]:
    """Decorator of a kernel: the values at `places` are Scalars, which it gets as elements of its first array's dtype.

    RuntimeError with torch's text where a number does not fit, also where it is complex and the elements are not.
    """

    def converting(fn: Fn) -> Fn:
        @functools.wraps(fn)
        def computed(out: Any, *values: Any) -> None:
            dtype = next(value for value in values if isinstance(value, np.ndarray)).dtype
            fn(out, *(number_of(value, dtype) if place in places else value for place, value in enumerate(values)))

        return computed  # type: ignore[return-value]

    return converting


def ufunc(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the kernel that applies a numpy ufunc to the tensor operands in order."""
    count = function.nin  # type: ignore[attr-defined]
    if count == 1:
        return lambda out, self: function(self, out)
    if function in (np.maximum, np.minimum):  # their third positional argument is deprecated
        return lambda out, self, other: function(self, other, out=out)
    return lambda out, self, other: function(self, other, out)
