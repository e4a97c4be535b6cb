"""Operators that a device lacks, run on the CPU where the user turned that on: `MINDTORCH_FALLBACK=warn`.

Without it, and for `MINDTORCH_FALLBACK=error`, a missing kernel raises. On the CPU an operator is composed of copies
and of itself on the CPU, so that autograd, `out=` and in-place forms need nothing more.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase

from ..frames import frames_to_program
from ..interface.wiring import wired
from ..table import OpRow, RowKind

VARIABLE = "MINDTORCH_FALLBACK"
FORBIDDEN = "TORCH_NPU_FALLBACK_CPU_DISABLE"
_CPU = Device("cpu")

_warned: set[str] = set()


def takes(row: OpRow, device: Device, values: list[Any]) -> bool:
    """Return whether a call without a kernel for `device` is to run on the CPU.

    Raises:
        ValueError: the variable has a value that means nothing.
        RuntimeError: torch_npu's variable forbids what ours asks for.
    """
    if device.type in ("cpu", "meta") or row.meta is None or row.meta.view:
        return False
    asked = os.environ.get(VARIABLE, "error")
    if asked == "warn" and os.environ.get(FORBIDDEN) == "1":
        raise RuntimeError(
            f"{row.aten_name}: no kernel for device '{device.type}', and {FORBIDDEN}=1 keeps it off the CPU"
        )
    if asked not in ("error", "warn"):
        raise ValueError(f"{VARIABLE} must be 'error' or 'warn', got {asked!r}")
    # The CPU cannot draw the numbers of a device's generator.
    return asked == "warn" and not any(hasattr(value, "initial_seed") for value in values)


def function(row: OpRow, device: Device) -> Callable[..., Any]:
    """Return what computes `row`, in its functional form where it has one, on the CPU for tensors of `device`."""
    used = row.base or row
    if row.aten_name not in _warned:
        _warned.add(row.aten_name)
        text = f"{row.aten_name}: no kernel for device '{device.type}'; it runs on the CPU, with copies there and back "
        warnings.warn(f"{text}({VARIABLE}=warn)", stacklevel=frames_to_program())

    def run(*values: object) -> Any:
        home = next((one.device for one in _tensors(values)), device)
        moved = [_mapped(value, lambda tensor: wired.copy_to(tensor, _CPU)) for value in values]
        moved = [_CPU if isinstance(value, Device) else value for value in moved]
        names = [argument.name for argument in used.schema.arguments]
        split = next((i for i, one in enumerate(used.schema.arguments) if one.kwarg_only), len(names))
        named = dict(zip(names[split:], moved[split:], strict=False))
        result = wired.call_overload(used, tuple(moved[:split]), named)
        for argument, given, changed in zip(used.schema.arguments, values, moved, strict=False):
            if argument.alias is not None and argument.alias.is_write:
                for one, other in zip(_tensors([given]), _tensors([changed]), strict=True):
                    wired.copy_(one, other)
        if used.kind is RowKind.MUTATING and isinstance(result, TensorBase) and result is moved[0]:
            return values[0]
        return _mapped(result, lambda tensor: wired.copy_to(tensor, home))

    return run


def _tensors(values: Any) -> list[TensorBase]:
    found: list[TensorBase] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _tensors(value)
    return found


def _mapped(value: object, change: Callable[[TensorBase], Any]) -> Any:
    if isinstance(value, TensorBase):
        return change(value)
    if isinstance(value, list):
        return [_mapped(one, change) for one in value]
    if type(value) is tuple:
        return tuple(_mapped(one, change) for one in value)
    if isinstance(value, tuple):  # what an operator packs its results in takes them as one sequence
        return tuple(_mapped(one, change) for one in value)
    return value
