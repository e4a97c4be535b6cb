"""Python numbers in nested sequences, read into arrays as torch reads them."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindtorch_storage import dtype as dtypes
from mindtorch_storage.storage.elements import class_name
from mindtorch_storage.tensor_base import TensorBase

_DEEPEST = 128


def leading_shape(data: Any) -> list[int]:
    """The lengths of the first sequence of each level; ValueError where there is no end of levels."""
    shape: list[int] = []
    level = data
    while isinstance(level, (list, tuple)):
        shape.append(len(level))
        if len(shape) > _DEEPEST:
            raise ValueError(f"too many dimensions '{type(level).__name__}'")
        if not level:
            break
        level = level[0]
    return shape


def leaves(data: Any, depth: int = 0) -> Any:
    """Give the items of nested sequences; TypeError where there is no end of levels."""
    if isinstance(data, (list, tuple)):
        if depth > _DEEPEST:
            raise TypeError("new(): self-referential lists are incompatible")
        for item in data:
            yield from leaves(item, depth + 1)
    else:
        yield data


_NO_SEQUENCES = (TensorBase, np.ndarray, np.generic, str, Mapping)


def _is_foreign(kind: type) -> bool:
    """Whether torch reads an instance like a list though it is none, as ranges and byte arrays are."""
    if issubclass(kind, _NO_SEQUENCES):
        return False
    names = kind.__mro__  # a class of an enumeration has both, its members have not
    return all(any(name in vars(one) for one in names) for name in ("__getitem__", "__len__"))


def holds_foreign_sequence(data: Any, depth: int = 0) -> bool:
    """Whether `data` is, or holds at any level, a sequence that is no list and no tuple."""
    if not isinstance(data, (list, tuple)):
        return _is_foreign(type(data))
    if depth > _DEEPEST:
        return False  # whoever reads the levels refuses it
    kinds = set(map(type, data))
    inner = [kind for kind in kinds if issubclass(kind, (list, tuple))]
    if any(_is_foreign(kind) for kind in kinds.difference(inner)):
        return True
    return bool(inner) and any(holds_foreign_sequence(item, depth + 1) for item in data if type(item) in inner)


def plain_sequences(data: Any, typed: bool) -> Any:
    """Return `data` with every sequence in it as a list; bytes are one only where a dtype is given (`typed`).

    Raises ValueError for what cannot be read, TypeError for bytes.
    """
    if isinstance(data, bytes) and not typed:
        raise TypeError("new(): invalid data type 'bytes'")
    if isinstance(data, (list, tuple)) or _is_foreign(type(data)):
        try:
            items = list(data)
        except Exception as error:
            raise ValueError(f"could not determine the shape of object type '{type(data).__name__}'") from error
        return [plain_sequences(item, typed) for item in items]
    return data


def first_leaf(data: Any) -> Any:
    """Return the first item of nested sequences; an empty sequence stands for itself, and one of the deepest level."""
    for _ in range(_DEEPEST + 1):  # a list may contain itself
        if not (isinstance(data, (list, tuple)) and data):
            break
        data = data[0]
    return data


def typed_array(data: Any, dtype: Any) -> Any:
    """Return numbers as an array that converts to `dtype` without loss; torch's errors for what the dtype cannot hold."""
    if dtype.is_floating_point or dtype.is_complex:
        return _inexact_array(data, np.complex128 if dtype.is_complex else np.float64)
    _refuse_text(data)
    if dtype is dtypes.bool:
        array = np.asarray(data)
        if array.dtype.kind in "OU":
            for leaf in leaves(data):
                if not isinstance(leaf, (int, float, complex)):
                    operator.index(leaf)
        return array.astype(np.bool_)
    return _integral_array(data, dtype)


def _integral_array(data: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return numbers as an array of integers that `dtype` can hold."""
    array = np.asarray(data)
    if array.size == 0:
        return array.astype(np.int64)
    limits = np.iinfo(dtype.np)
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind != "i" or (dtype is dtypes.uint64 and array.min() < 0):
        # What numpy made of a list of large or various numbers need not be what stands in it.
        exact = _unsigned_leaf if dtype is dtypes.uint64 else _signed_leaf
        kind = np.uint64 if dtype is dtypes.uint64 else np.int64
        array = np.array([exact(leaf, dtype) for leaf in leaves(data)], kind).reshape(array.shape)
    least = limits.min or -limits.max  # negative numbers wrap around in unsigned types
    if array.dtype.kind == "i" and (array.min() < least or array.max() > limits.max):
        raise _overflow(dtype)
    return array


def _overflow(dtype: Any) -> RuntimeError:
    return RuntimeError(f"value cannot be converted to type {str(dtype).removeprefix('torch.')} without overflow")


def _signed_leaf(leaf: Any, dtype: Any) -> int:
    if isinstance(leaf, float):
        limits = np.iinfo(dtype.np)
        if not limits.min <= leaf <= limits.max:
            raise _overflow(dtype)
        return int(leaf)
    number = operator.index(leaf)
    if not -(2**63) <= number < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return number


def _unsigned_leaf(leaf: Any, dtype: Any) -> int:
    if not isinstance(leaf, int):
        raise TypeError("an integer is required")
    if leaf < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if leaf >= 2**64:
        raise OverflowError("int too big to convert")
    return leaf


def _refuse_text(data: Any) -> None:
    if isinstance(first_leaf(data), str):
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        raise ValueError("too many dimensions 'str'")


def _inexact_array(data: Any, np_dtype: Any) -> np.ndarray[Any, Any]:
    """Return numbers as an array of floats; numpy would read texts as numbers, and None as nan."""
    _refuse_text(data)
    try:
        array = np.asarray(data, dtype=np_dtype)
    except TypeError:
        _refuse_unreal(data)
        raise
    except RuntimeError:  # a tensor that requires grad gives its number, with a warning, but no array
        array = np.array([_number(leaf, np_dtype) for leaf in leaves(data)], np_dtype).reshape(leading_shape(data))
    if np.isnan(array).any():
        for leaf in leaves(data):
            if leaf is None:
                raise TypeError("must be real number, not NoneType")
    return array


def _number(leaf: Any, np_dtype: Any) -> Any:
    if getattr(leaf, "numel", lambda: 1)() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return complex(leaf) if np_dtype is np.complex128 else float(leaf)


def _refuse_unreal(data: Any) -> None:
    for leaf in leaves(data):
        if not hasattr(leaf, "__float__") and not hasattr(leaf, "__index__"):
            raise TypeError(f"must be real number, not {class_name(leaf)}") from None
