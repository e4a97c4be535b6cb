"""DLPack capsules of element types that numpy lacks.

numpy makes and takes the capsules, so that it owns what they refer to. Where it lacks the type, it sees unsigned numbers
of the same size, and the type written in the capsule is exchanged: after numpy made it, or before numpy takes it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype


class Type(ctypes.Structure):
    """The type of elements."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class Tensor(ctypes.Structure):
    """Where elements lie, and how."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", Type),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class ManagedTensor(ctypes.Structure):
    """What a capsule of the standard before 1.0 points to."""

    _fields_ = (("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Versioned(ctypes.Structure):
    """What a capsule of the standard from 1.0 on points to."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    )


# Type code, bits and lanes in the DLPack standard.
CODES = {
    types.bfloat16: (4, 16, 1),
    types.complex32: (5, 32, 1),
    types.float8_e4m3fn: (10, 8, 1),
    types.float8_e4m3fnuz: (11, 8, 1),
    types.float8_e5m2: (12, 8, 1),
    types.float8_e5m2fnuz: (13, 8, 1),
    types.float8_e8m0fnu: (14, 8, 1),
    types.float4_e2m1fn_x2: (17, 4, 2),
}
_TYPES = {code: dtype for dtype, code in CODES.items()}
_UNSIGNED = 1

is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes, is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.argtypes, pointer_of.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p


def _type_in(capsule: Any) -> Type | None:
    if is_valid(capsule, b"dltensor_versioned"):
        return Versioned.from_address(pointer_of(capsule, b"dltensor_versioned")).tensor.dtype
    if is_valid(capsule, b"dltensor"):
        return Tensor.from_address(pointer_of(capsule, b"dltensor")).dtype
    return None


def is_exchanged(dtype: Dtype) -> bool:
    """Whether capsules of this type need what is here."""
    return dtype in CODES


def capsule_of(array: np.ndarray[Any, Any], dtype: Dtype, **options: Any) -> Any:
    """A capsule over the array's memory that says its elements are of `dtype`."""
    if dtype not in CODES:
        return array.__dlpack__(**options)
    capsule = array.view(f"u{dtype.itemsize}").__dlpack__(**options)
    found = _type_in(capsule)
    if found is None:
        raise RuntimeError(f"numpy made a capsule of an unknown kind: {capsule!r}")
    found.code, found.bits, found.lanes = CODES[dtype]
    return capsule


def made_plain(capsule: Any) -> Dtype | None:
    """Let a capsule hold unsigned numbers if numpy lacks its type, which is returned; None if numpy has it."""
    found = _type_in(capsule)
    dtype = None if found is None else _TYPES.get((found.code, found.bits, found.lanes))
    if found is not None and dtype is not None:
        found.code, found.bits, found.lanes = _UNSIGNED, 8 * dtype.itemsize, 1
    return dtype
