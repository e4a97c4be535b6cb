"""Names of operators and of the places they are registered for, as the functions of `torch.library` take them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from mindtorch_dispatch.extend.overloads import OpOverload, find_overload
from mindtorch_dispatch.registry import registry
from mindtorch_storage.device import device as Device

_KEYS = {"cpu": "CPU", "npu": "NPU", "privateuseone": "NPU", "mkldnn": "CPU"}
_SPELT = {"cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "hpu": "HPU", "ipu": "IPU", "mtia": "MTIA", "meta": "Meta"}
_SPELT |= {"xla": "XLA", "lazy": "Lazy", "ve": "VE", "maia": "MAIA", "hip": "HIP"}
_HERE = os.path.dirname(__file__)


def check_qualname(name: str) -> tuple[str, str]:
    """Return (namespace, name) of `ns::name`; torch's ValueError for another form."""
    parts = name.split("::")
    if len(parts) != 2:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {name}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    if parts[1].endswith(".default"):
        raise RuntimeError("default is not a legal overload name for aten operators")
    return parts[0], parts[1]


def name_of(op: Any, caller: str) -> str:
    """Return the qualified name of an operator given by name, as overload or as custom operator; ValueError for more."""
    if isinstance(op, OpOverload):
        return op.name()
    if hasattr(op, "_qualname"):
        return op._qualname
    if not isinstance(op, str):
        raise ValueError(f"{caller}({op}): got unexpected type for op: {type(op)}")
    check_qualname(op)
    return op


def declared(name: str) -> OpOverload:
    """Return the overload called `name`; AttributeError with torch's text when nobody declared it."""
    return find_overload(name)


def key_of_device(device_type: str, prefix: str = "") -> str:
    """Return the name of a device type's key; RuntimeError with torch's text for no device type."""
    kind = Device(device_type).type
    return prefix + (_KEYS.get(kind) or _SPELT.get(kind) or kind.upper())


def device_types(given: Any) -> list[str]:
    """Return the device types given as one string or as several."""
    return [given] if isinstance(given, str) else list(given)


def caller_place() -> str:
    """Return `FILE:LINE` of the code that called into `torch.library`."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def is_functional(op: OpOverload) -> bool:
    """Whether an operator neither writes its arguments nor returns views of them, and returns something."""
    schema = op.declared
    aliases = any(one.alias is not None for one in (*schema.arguments, *schema.returns))
    return bool(schema.returns) and not aliases


def has_kernel(name: str, keys: Iterable[str]) -> bool:
    """Whether the operator has a registration for one of the keys."""
    row = registry.find(name)
    entry = row.__dict__.get("entry") if row is not None else None
    return entry is not None and any(entry.registered(key) is not None for key in keys)
