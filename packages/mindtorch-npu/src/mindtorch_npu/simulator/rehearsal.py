"""Shapes that an operator's first phase refuses: the operator is computed once, for each geometry, from made-up values.

So whatever the operator cannot compute from operands of these shapes is refused before anything is launched, with the
code that the vendor's libraries give, and no rule of shapes is written twice.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from mindtorch_npu.simulator import kernels
from mindtorch_npu.simulator.descriptors import INVALID, ScalarDescriptor, TensorDescriptor
from mindtorch_npu.simulator.dtypes import numpy_dtype
from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.stream import KERNEL_ERRORS

KEPT = 4096
LARGEST = 1 << 22
"""Elements of the largest tensor that a rehearsal makes; larger ones are looked at when they are computed."""

_lock = threading.Lock()
_seen: OrderedDict[Any, None] = OrderedDict()


def rehearse(name: str, arguments: dict[str, Any]) -> None:
    """Refuse operands whose shapes the operator cannot compute; DeviceFault with the code of a wrong parameter."""
    kernel = kernels.table()[name]
    if kernel.values_matter or not all(_small(value) for value in arguments.values()):
        return
    key = (name, *(_key(value) for value in arguments.values()))
    with _lock:
        if key in _seen:
            _seen.move_to_end(key)
            return
    values = {label: _made_up(value) for label, value in arguments.items()}
    try:
        kernel(values, {label: _Described() for label in arguments})
    except KERNEL_ERRORS as error:
        raise DeviceFault(INVALID, f"EZ1001: {name}: {type(error).__name__}: {error}") from error
    with _lock:
        _seen[key] = None
        if len(_seen) > KEPT:
            _seen.popitem(last=False)


class _Described:
    """Takes the shape that a rehearsal gives a result whose size depends on its values."""

    shape: tuple[int, ...] = ()


def _small(value: object) -> bool:
    if isinstance(value, TensorDescriptor):
        return int(np.prod(value.shape, dtype=np.int64)) <= LARGEST
    return not isinstance(value, list) or all(_small(item) for item in value)


def _key(value: object) -> Any:
    if isinstance(value, TensorDescriptor):
        return value.shape, value.dtype
    if isinstance(value, ScalarDescriptor):
        return repr(value.value), value.dtype
    if isinstance(value, list):
        return tuple(_key(item) for item in value)
    return repr(value)


def _made_up(value: object) -> Any:
    if isinstance(value, TensorDescriptor):
        dtype = numpy_dtype(value.dtype)
        return np.zeros(value.shape, dtype) if dtype.kind in "iub" else np.ones(value.shape, dtype)
    if isinstance(value, ScalarDescriptor):
        return value.value
    if isinstance(value, list):
        return [_made_up(item) for item in value]
    return value
