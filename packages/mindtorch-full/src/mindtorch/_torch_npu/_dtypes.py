"""What torch_npu calls dtypes of its own: numbers, 256 above those of the vendor's runtime, that operators take as `dst_type`."""

from __future__ import annotations

import mindtorch as torch

__all__ = ["DTYPES", "unsupported_dtype"]

_OFFSET = 256
_CODES = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9,
    "uint64": 10, "float64": 11, "bool": 12, "string": 13, "complex64": 16, "complex128": 17, "bfloat16": 27, "int4": 29,
    "uint1": 30, "complex32": 33, "hifloat8": 34, "float8_e5m2": 35, "float8_e4m3fn": 36, "float8_e8m0fnu": 37,
    "float6_e3m2": 38, "float6_e2m3": 39, "float4_e2m1fn_x2": 40, "float4_e1m2fn_x2": 41,
}  # fmt: skip
DTYPES = {name: code + _OFFSET for name, code in _CODES.items()}
"""The numbers by name."""

unsupported_dtype = [torch.quint8, torch.quint4x2, torch.quint2x4, torch.qint32, torch.qint8]
"""Dtypes that a device has no storage for."""
