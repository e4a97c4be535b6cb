"""Calls of kernels registered at run time: they take and return tensors, and nothing that equals its default.

What a kernel returns is held against the operator's schema, with torch's errors for what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..arguments.bound import Bound
from ..keys import DispatchKeySet
from ..schema import Argument, EnumName, Schema
from ..state import state
from ..typing import Tensor, TensorOrScalar

_NO_CAST = "to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"


def boxed(bound: Bound, function: Callable[..., Any], keys: DispatchKeySet) -> Callable[..., Any]:
    """Return a registered kernel as what answers a call that reached it by `keys`."""
    schema = bound.row.schema
    arguments, returns = schema.arguments, schema.returns
    pack = None if bound.overload else bound.row.pack

    def call(*values: Any) -> Any:
        args, kwargs = trimmed(arguments, values)
        before = state.keys
        state.keys = keys
        try:
            answer = function(*args, **kwargs)
        finally:
            state.keys = before
        result = returned(answer, returns, schema)
        return result if pack is None or not isinstance(result, tuple) else pack(result)

    return call


def trimmed(arguments: Sequence[Argument], values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return (args, kwargs) of a kernel: positional values up to the last that differs from its default, keyword-only
    ones that differ, lists as lists."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    needed = 0
    for argument, value in zip(arguments, values, strict=True):
        kind = argument.type
        if kind.is_list and isinstance(value, tuple):
            value = list(value)
        elif kind.kind == "float" and type(value) is int:
            value = float(value)
        elif kind.kind in ("int", "SymInt") and type(value) is bool:
            value = int(value)
        equal = argument.has_default and equals_default(value, argument.default)
        if argument.kwarg_only:
            if not equal:
                kwargs[argument.name] = value
            continue
        args.append(value)
        if not equal:
            needed = len(args)
    return args[:needed], kwargs


def equals_default(value: int, default: int) -> bool:
    """Whether a value is the default of its argument."""
    if isinstance(value, TensorBase) or isinstance(default, EnumName):
        return False
    if isinstance(value, list) or isinstance(default, tuple):
        return isinstance(value, list) and isinstance(default, tuple) and tuple(value) == default
    if value is None or default is None:
        return value is default
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def returned(answer: Sequence[Tensor] | Tensor | None, returns: Sequence[Argument], schema: Schema) -> Any:
    """Return a kernel's answer as the schema has it; torch's RuntimeError or TypeError for what does not fit."""
    if not returns:
        if answer is not None:
            raise RuntimeError(
                f"Expected PythonKernelHolder for {schema.qualified_name} to return None but it returned something else "
                "instead."
            )
        return None
    if len(returns) == 1:
        return _one(answer, returns[0])
    if isinstance(answer, TensorBase) or not isinstance(answer, Sequence):
        raise TypeError(f"Object of type '{type(answer).__name__}' is not an instance of 'sequence'")
    if len(answer) != len(returns):
        raise RuntimeError(
            f"Expected {len(returns)} return values from {schema.qualified_name} but its kernel returned {len(answer)}"
        )
    return tuple(_one(value, one) for value, one in zip(answer, returns, strict=True))


def _one(value: Any, declared: Argument) -> Any:
    kind = declared.type
    if kind.is_list:
        if value is None and kind.optional:
            return None
        if not isinstance(value, (list, tuple)):
            raise _no_cast(value)
        return [_item(item, kind.kind) for item in value]
    return None if value is None and (kind.optional or kind.kind == "Tensor") else _item(value, kind.kind)


_NUMBERS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "float": (float, int),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (int, float, complex),
}


def _item(value: TensorOrScalar, kind: str) -> Any:
    if kind == "Tensor":
        if isinstance(value, TensorBase):
            return value
        raise RuntimeError(f"Unable to cast {value} to Tensor")
    wanted = _NUMBERS.get(kind)
    if wanted is not None and not isinstance(value, wanted):
        raise _no_cast(value)
    return value


def _no_cast(value: object) -> RuntimeError:
    return RuntimeError(f"Unable to cast Python instance of type {type(value)} {_NO_CAST}")
