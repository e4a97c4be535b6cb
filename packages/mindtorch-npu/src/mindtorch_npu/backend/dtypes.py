"""Element types: numpy's as the vendor's `aclDataType`."""

from __future__ import annotations

from typing import Any

CODES = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9,
    "uint64": 10, "float64": 11, "bool": 12, "complex64": 16, "complex128": 17, "bfloat16": 27,
}  # fmt: skip
FLOAT, INT64, DOUBLE, BOOL, COMPLEX128 = 0, 9, 11, 12, 17


def code_of(dtype: Any) -> int:
    """Return the `aclDataType` of a numpy dtype. Raises NotImplementedError for one that the vendor lacks."""
    code = CODES.get(dtype.name)
    if code is None:
        raise NotImplementedError(f"tensors of {dtype.name} do not exist on npu")
    return code
