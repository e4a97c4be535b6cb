"""The vendor's element types as numpy's."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from mindtorch_npu.simulator.typing import Array

CODES = {
    0: ("FLOAT", "float32"), 1: ("FLOAT16", "float16"), 2: ("INT8", "int8"), 3: ("INT32", "int32"),
    4: ("UINT8", "uint8"), 6: ("INT16", "int16"), 7: ("UINT16", "uint16"), 8: ("UINT32", "uint32"),
    9: ("INT64", "int64"), 10: ("UINT64", "uint64"), 11: ("DOUBLE", "float64"), 12: ("BOOL", "bool"),
    16: ("COMPLEX64", "complex64"), 17: ("COMPLEX128", "complex128"), 27: ("BFLOAT16", "bfloat16"),
}  # fmt: skip
"""By `aclDataType`: the name in the vendor's tables, and numpy's."""


@cache
def numpy_dtype(code: int) -> Any:
    """Return numpy's dtype of an `aclDataType`; KeyError for one that is not simulated."""
    name = CODES[code][1]
    if name == "bfloat16":
        return np.dtype(importlib.import_module("ml_dtypes").bfloat16)  # only where such tensors are
    return np.dtype(name)


def wide(array: Array) -> Any:
    """Return 16-bit floats as float32, in which the chip computes, and everything else as it is."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind in "fV" else array
