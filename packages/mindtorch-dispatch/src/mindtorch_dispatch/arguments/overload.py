"""Binding of a call to one given overload, as `torch.ops.aten.add.Tensor(x, y)` does it.

No overload is searched, no keyword is renamed, and the texts differ from those of `torch.add`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.tensor_base import TensorBase

from ..schema import Argument, EnumName, Schema
from .element import read_number
from .messages import type_name
from .parameter import INT64, check_scalar, enum_value, is_index, is_number, is_tensor_like, plain_number
from .signature import Parsed
from .tables import NUMBERS_AS_TENSORS

_TYPE_NAMES = {"Scalar": "number", "SymInt": "int", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}
_ENUMERATIONS = {"ScalarType": Dtype, "Layout": Layout, "MemoryFormat": MemoryFormat}
_NO_CAST = "to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"


class _MismatchError(Exception):
    """A value that an argument does not take; carries the last line of the message."""


def bind_overload(schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Parsed:
    """Bind a call by the schema alone; torch's RuntimeError when it does not fit. `out=` arguments are values."""
    arguments = schema.arguments
    if len(args) + len(kwargs) > len(arguments):
        raise RuntimeError(
            f"{schema.name}() expected at most {len(arguments)} argument(s) but received {len(args) + len(kwargs)} "
            f"argument(s). Declaration: {schema}"
        )
    places = {name: len(args) + position for position, name in enumerate(kwargs)}
    parsed = Parsed(0, schema)
    used = 0
    for position, argument in enumerate(arguments):
        if position < len(args):
            if argument.kwarg_only:
                raise RuntimeError(
                    f"{schema.name}() takes {position} positional argument(s) but {len(args)} was/were given.  "
                    f"Declaration: {schema}"
                )
            _take(parsed, argument, position, args[position], position)
        elif argument.name in kwargs:
            used += 1
            _take(parsed, argument, position, kwargs[argument.name], places[argument.name])
        elif argument.has_default:
            default = argument.default
            parsed.values.append(enum_value(argument.type.kind, default) if isinstance(default, EnumName) else default)
            parsed.sources.append(None)
        else:
            raise RuntimeError(
                f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: {schema}"
            )
    if used < len(kwargs):
        raise _keyword_error(schema, kwargs)
    for position, (argument, value) in enumerate(zip(arguments, parsed.values, strict=True)):
        if schema.namespace != "aten":
            break  # what a library's kernel makes of an undefined tensor is its own business
        if value is None and argument.type.is_tensor and not argument.type.optional:
            raise RuntimeError(
                "Expected a proper Tensor but got None (or an undefined Tensor in C++) "
                f"for argument #{position} '{argument.name}'"
            )
    return parsed


def _keyword_error(schema: Schema, kwargs: Mapping[str, Any]) -> RuntimeError:
    names = [argument.name for argument in schema.arguments]
    for name in kwargs:
        if name not in names:
            return RuntimeError(f"Unknown keyword argument '{name}' for operator '{schema.name}'. Schema: {schema}")
    name = next(name for name in names if name in kwargs)
    return RuntimeError(f"Argument '{name}' specified both as positional and keyword argument. Schema: {schema}")


def _take(parsed: Parsed, argument: Argument, position: int, value: object, place: int) -> None:
    """Append the value of one argument to `parsed`, or say why it does not fit."""
    try:
        made = _cast(argument, value, parsed.schema.base_name in NUMBERS_AS_TENSORS)
    except _MismatchError as mismatch:
        raise RuntimeError(
            f"{parsed.schema.name}() Expected a value of type '{_type_text(argument)}' for argument '{argument.name}' "
            f"but instead found type '{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\n"
            f"Declaration: {parsed.schema}\n{mismatch}"
        ) from None
    parsed.values.append(made)
    parsed.sources.append(place if made is value else None)
    if made is not value and (isinstance(value, TensorBase) or _holds_tensor(value)):
        parsed.cacheable = False


def _holds_tensor(value: object) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value)


def _type_text(argument: Argument) -> str:
    """The argument's type as these messages print it, `Optional[List[int]]`."""
    kind = argument.type
    text = _TYPE_NAMES.get(kind.kind, kind.kind)
    text = f"Optional[{text}]" if kind.elem_optional else text
    text = f"List[{text}]" if kind.is_list else text
    return f"Optional[{text}]" if kind.optional else text


def _cast(argument: Argument, value: object, numbers: bool) -> Any:
    """The value as the argument's type; the value itself where nothing changes."""
    kind = argument.type
    if value is None and (kind.optional or kind.is_tensor):  # a Tensor that must not be None is refused at the end
        return None
    if kind.is_list:
        return _cast_list(argument, value)
    if kind.kind == "Tensor":
        return _cast_tensor(value, numbers)
    return _cast_item(kind.kind, value)


def _cast_list(argument: Argument, value: Any) -> Any:
    kind = argument.type
    if kind.kind == "int" and kind.size and isinstance(value, int):
        return (_cast_item("int", value),) * kind.size
    if kind.kind == "SymInt" and not isinstance(value, Iterable):
        raise _MismatchError(f" Python error details: TypeError: '{type_name(value)}' object is not iterable")
    symbolic = kind.kind == "SymInt"
    if not isinstance(value, (list, tuple)):
        if not symbolic:
            raise _no_cast(value)
        value = _listed(value)
    try:
        items = [None if item is None and kind.elem_optional else _cast_item(kind.kind, item) for item in value]
    except _MismatchError:
        if symbolic or kind.kind == "Scalar" or kind.elem_optional:
            raise
        raise _no_cast(value) from None
    if kind.kind == "Tensor" or (
        isinstance(value, tuple) and all(made is item for made, item in zip(items, value, strict=True))
    ):
        return value
    return tuple(items)


def _listed(value: Any) -> list[Any]:
    """Return what iterating gives; a tensor whose parts are no ints is not taken apart."""
    if isinstance(value, TensorBase) and value._spec.ndim:
        spec = value._spec
        if spec.dtype.is_floating_point or spec.dtype.is_complex or spec.numel not in (0, spec.shape[0]):
            raise _no_cast(value)
    try:
        return list(value)
    except Exception as error:  # noqa: BLE001 - it is told in the message
        raise _MismatchError(f" Python error details: {type(error).__name__}: {error}") from None


def _no_cast(value: object) -> _MismatchError:
    return _MismatchError(f"Cast error details: Unable to cast Python instance of type {type(value)} {_NO_CAST}")


def _converted(convert: Callable[[Any], Any], value: Any) -> Any:
    """Return what `value` is converted to; it does not fit where that raises, as torch drops whatever it is."""
    try:
        return convert(value)
    except Exception:  # noqa: BLE001 - see above
        raise _no_cast(value) from None


def _cast_item(kind: str, value: Any) -> Any:
    if kind == "Tensor":
        return _cast_tensor(value, False)
    if kind == "Scalar":
        if type(value) in (int, float, bool, complex):
            if type(value) is int:
                check_scalar(value)
            return value
        if isinstance(value, (int, float, complex)):
            return plain_number(value)
        raise _MismatchError(f"Cast error details: Cannot cast {value} to number")
    if kind in ("int", "SymInt"):
        if isinstance(value, bool) or (type(value) is int and value in INT64):
            return value
        if isinstance(value, TensorBase) and value._sig.spec.numel == 1:
            return _converted(lambda found: int(read_number(found)), value)
        if is_index(value) and value.__index__() in INT64:
            return value.__index__()
    elif kind in ("float", "complex"):
        if isinstance(value, TensorBase) and value._sig.spec.numel == 1:
            return read_number(value)
        if isinstance(value, (float, int)) or (kind == "complex" and isinstance(value, complex)):
            return value
        if isinstance(value, (np.floating, np.integer)):
            return read_number(value)
    elif kind == "bool":
        if isinstance(value, bool):
            return value
        if hasattr(type(value), "__bool__"):
            return _converted(bool, value)
    elif kind in _ENUMERATIONS:
        if isinstance(value, _ENUMERATIONS[kind]):
            return value
    elif kind == "Device":
        if isinstance(value, (Device, str)):
            return value if isinstance(value, Device) else Device(value)
    elif kind == "str":
        if isinstance(value, str):
            return value
    elif any(cls.__name__ == kind for cls in type(value).__mro__) or kind not in ("Generator", "Storage", "Stream"):
        return value
    raise _no_cast(value)


def _cast_tensor(value: Any, numbers: bool) -> Any:
    """Tensors, and for some operators numbers, which the planner wraps."""
    if is_tensor_like(value):
        return value
    if numbers and is_number(value):
        if type(value) is int:
            check_scalar(value)
        return read_number(value) if isinstance(value, (np.number, np.bool_)) else value
    raise _MismatchError(f"Cast error details: Unable to cast {value} to Tensor")
