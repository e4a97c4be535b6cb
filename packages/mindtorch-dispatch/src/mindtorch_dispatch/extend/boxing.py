"""Calls of kernels registered at run time: they take and return tensors, and nothing that equals its default.

What a kernel returns is held against the operator's schema, with torch's errors for what does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase

from ..execute import executor
from ..keys import DispatchKeySet
from ..meta.rule import Outputs
from ..plan import Plan
from ..plan.routing import Bound, fill_plan, missing_kernel
from ..schema import Argument, EnumName, Schema
from ..state import state
from ..table import OpRow

_NO_CAST = "to C++ type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"


def boxed_plan(bound: Bound, function: Callable[..., Any], keys: DispatchKeySet, whole: bool = False) -> Plan:
    """Return the plan of a registered kernel, which is reached by `keys`; `whole` is for our own ones, which get every
    value in the order of the schema and are trusted with their results."""
    plan = Plan(bound.row, executor.run_composite)
    fill_plan(plan, bound, Outputs(None), None)
    schema = bound.row.schema
    arguments, returns = schema.arguments, schema.returns

    def call(*values: Any) -> Any:
        args: Sequence[Any]
        args, kwargs = (values, {}) if whole else trimmed(arguments, values)
        before = state.keys
        state.keys = keys
        try:
            answer = function(*args, **kwargs)
        finally:
            state.keys = before
        if whole:
            return answer
        result = returned(answer, returns, schema)
        return result if pack is None or not isinstance(result, tuple) else pack(result)

    pack = None if bound.overload else bound.row.pack
    plan.kernel = call
    return plan


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


def equals_default(value: Any, default: Any) -> bool:
    """Whether a value is the default of its argument."""
    if isinstance(value, TensorBase) or isinstance(default, EnumName):
        return False
    if isinstance(value, list) or isinstance(default, tuple):
        return isinstance(value, list) and isinstance(default, tuple) and tuple(value) == default
    if value is None or default is None:
        return value is default
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def returned(answer: Any, returns: Sequence[Argument], schema: Schema) -> Any:
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


def _item(value: Any, kind: str) -> Any:
    if kind == "Tensor":
        if isinstance(value, TensorBase):
            return value
        raise RuntimeError(f"Unable to cast {value} to Tensor")
    wanted = _NUMBERS.get(kind)
    if wanted is not None and not isinstance(value, wanted):
        raise _no_cast(value)
    return value


def _no_cast(value: Any) -> RuntimeError:
    return RuntimeError(f"Unable to cast Python instance of type {type(value)} {_NO_CAST}")


def missing_registration(row: OpRow, tensors: Sequence[TensorBase], device: Device) -> Exception:
    """Return torch's error for an operator that was declared but has no kernel for the call at hand."""
    name = row.schema.qualified_name
    entry = row.__dict__.get("entry")
    if device.type == "meta" and entry is not None and entry.missing_fake:
        base = row.schema.base_name
        unplaced = f"{base} does not have a kernel registered for meta. Please use register_kernel to do so."
        return RuntimeError(entry.missing_fake if tensors else unplaced)
    if device.type == "meta" and tensors:
        return missing_kernel(row, device, None)
    registered = [] if entry is None else [key for key, found in entry.registrations.items() if found]
    shown = f"[{', '.join(registered)}]"
    if not tensors:
        return NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no "
            f"fallback function is registered for schema {name}.  This usually means that this function requires a "
            "non-empty list of Tensors, or that you (the operator writer) forgot to register a fallback function.  "
            f"Available functions are {shown}.\n"
        )
    backend = {"cpu": "CPU", "npu": "NPU"}[device.type]
    return NotImplementedError(
        f"Could not run '{name}' with arguments from the '{backend}' backend. This could be because the operator "
        "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom "
        "build). If you are a Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
        f"possible resolutions. '{name}' is only available for these backends: {shown}.\n"
    )
