"""What may be written to an element of a typed storage, with torch's refusals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from mindtorch_storage import dtype as types
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype

_READ_AS = {
    types.quint8: types.uint8,
    types.quint4x2: types.uint8,
    types.quint2x4: types.uint8,
    types.qint8: types.int8,
    types.qint32: types.int32,
}
_TENSOR_NAMES = {
    types.float64: "Double",
    types.float32: "Float",
    types.float16: "Half",
    types.bfloat16: "BFloat16",
    types.int64: "Long",
    types.int32: "Int",
    types.int16: "Short",
    types.int8: "Char",
    types.uint8: "Byte",
    types.bool: "Bool",
    types.complex128: "ComplexDouble",
    types.complex64: "ComplexFloat",
}

_C_NAMES = {
    "Bool": "bool",
    "Byte": "unsigned char",
    "Char": "signed char",
    "Double": "double",
    "Float": "float",
    "Int": "int",
    "Long": "long int",
    "Short": "short int",
    "UInt16": "short unsigned int",
    "UInt32": "unsigned int",
    "UInt64": "long unsigned int",
}


def c_name(dtype: Dtype) -> str:
    """The name that error texts give the elements of a dtype in C++."""
    if dtype.is_complex:
        return f"c10::complex<{c_name(dtype.to_real())}>"
    name = dtype.scalar_name
    if name in _C_NAMES:
        return _C_NAMES[name]
    family = name.rstrip("1234567")
    if family in ("Int", "UInt"):
        return f"c10::dummy_{family.lower()}1_7_t<{name[len(family) :]}>"
    return f"c10::{name.lower() if name.startswith(('Q', 'Bits')) else name}"


def class_name(value: Any) -> str:
    """The name that error texts give the class of a value."""
    kind = type(value)
    module = getattr(kind, "__module__", "")  # which a class has that was made where none is named
    if module == "numpy" or isinstance(value, Dtype | Device):
        return f"{'numpy' if module == 'numpy' else 'torch'}.{kind.__name__}"
    return f"decimal.{kind.__name__}" if module == "decimal" else kind.__name__


def _refuse_overflow(value: Any, dtype: Dtype) -> None:
    if dtype.is_complex or dtype is types.bool:
        return
    fits = not isinstance(value, complex)
    if fits and not dtype.is_floating_point:
        limits = np.iinfo(dtype.np)
        # An unsigned type takes negative numbers too, as many as it has values.
        lowest = limits.min if limits.min else -limits.max
        fits = math.isfinite(value) and lowest <= int(value) <= limits.max
    if not fits:
        name = f"{dtype.np.name}_t"
        if dtype.is_floating_point:
            name = "float" if dtype is types.float32 else "double"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def checked_element(value: Any, dtype: Dtype) -> Any:
    """Return what numpy is to write for `value`: a number, or the values of a tensor.

    Raises TypeError for what is no number, ValueError for an int beyond 64 bits, RuntimeError where `dtype` has no such
    number and for storages.
    """
    if hasattr(value, "untyped"):
        raise RuntimeError(f"cannot set item with value type {type(value)}")
    if hasattr(value, "untyped_storage"):
        return np.asarray(value)
    dtype = _READ_AS.get(dtype, dtype)
    if not isinstance(value, int | float | complex | np.integer | np.bool_):
        raise TypeError(f"can't assign a {class_name(value)} to a torch.{_TENSOR_NAMES.get(dtype, '')}Tensor")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    _refuse_overflow(value, dtype)
    if dtype is types.bool:
        return bool(value)
    if dtype.is_complex or dtype.is_floating_point:
        return value
    whole = int(value)  # type: ignore[arg-type]  # no complex number comes here
    return whole & 0xFF if dtype is types.uint8 else whole


def is_int(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of Python or numpy, and no truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _is_tensor(value: object) -> bool:
    return hasattr(value, "storage_offset")  # the class stands on storages, and is not known here


def size_of(value: Any) -> int | None:
    """Return how many bytes a storage of `value` has, where it is a number."""
    if not (is_int(value) or (_is_tensor(value) and not value.shape)):
        return None
    if int(value) >= 2**63:
        raise ValueError("Overflow when unpacking long long")
    return int(value)


def bytes_of(sequence: Sequence[object]) -> np.ndarray[Any, Any]:
    """Return the bytes that an untyped storage is made of, from integers; RuntimeError for anything else."""
    kind = class_name(sequence)
    if not hasattr(sequence, "__getitem__") or isinstance(sequence, dict | np.generic) or _is_tensor(sequence):
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {kind}")
    if not hasattr(sequence, "__len__"):  # and so perhaps no end
        raise RuntimeError(f"torch.UntypedStorage(): Could not obtain the length of sequence of type {kind}")
    items: list[int] = []
    for item in (sequence[at] for at in range(len(sequence))):
        if not isinstance(item, int):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({kind}), "
                f"but one of the items was of type {class_name(item)} instead of int"
            )
        items.append(item & 0xFF)
    return np.array(items, np.uint8)


LEGACY_TYPES = {
    "DoubleStorage": types.float64,
    "FloatStorage": types.float32,
    "HalfStorage": types.float16,
    "LongStorage": types.int64,
    "IntStorage": types.int32,
    "ShortStorage": types.int16,
    "CharStorage": types.int8,
    "ByteStorage": types.uint8,
    "BoolStorage": types.bool,
    "BFloat16Storage": types.bfloat16,
    "ComplexDoubleStorage": types.complex128,
    "ComplexFloatStorage": types.complex64,
    "QUInt8Storage": types.quint8,
    "QInt8Storage": types.qint8,
    "QInt32Storage": types.qint32,
    "QUInt4x2Storage": types.quint4x2,
    "QUInt2x4Storage": types.quint2x4,
}
"""The element types of the classes named after one."""
