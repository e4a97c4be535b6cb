"""The kernels of the Autocast key: cast the floating-point arguments of an op, then call it with autocast off."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import mindtorch_storage.dtype as dtypes
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.keys import DispatchKey
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.state import state
from mindtorch_dispatch.table import find_packet
from mindtorch_storage.tensor_base import TensorBase

from .state import cast_cache, get_autocast_dtype, is_autocast_cache_enabled, is_autocast_enabled, policies

_installed: set[str] = set()
_WIDTH = {"float16": 1, "bfloat16": 1, "float32": 2}


def install_casts(device_type: str) -> None:
    """Register the casting kernels of a device type's ops; done once, when autocast is first turned on."""
    for op in policies()[device_type].casts:
        packet = find_packet(op)
        if op in _installed or packet is None:
            continue
        _installed.add(op)
        for row in packet.rows:
            if not row.kind.writes:
                registry.register_kernel(row.name, DispatchKey.Autocast, _casting(op, row))


def _casting(op: str, row: Any) -> Callable[..., Any]:
    """The Autocast kernel of one overload."""
    overload = getattr(getattr(aten, op), row.overload or "default")

    def cast_and_call(*args: Any, **kwargs: Any) -> Any:
        before = state.mode
        tensors = [t for t in _flat((*args, *kwargs.values())) if isinstance(t, TensorBase)]
        device_type = next((t.device.type for t in tensors if is_autocast_enabled(t.device.type)), None)
        if device_type is not None:
            target = _target(policies()[device_type].casts.get(op), tensors, device_type)
            if target is not None:
                # From the last to the first, the order in which torch's kernels come to be called.
                kwargs = {name: cast_value(arg, device_type, target) for name, arg in kwargs.items()}
                args = tuple([cast_value(arg, device_type, target) for arg in reversed(args)][::-1])
        state.mode = before.replace(autocast=None)
        try:
            return overload(*args, **kwargs)
        finally:
            state.mode = before

    return cast_and_call


def _flat(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found.extend(_flat(value) if isinstance(value, (list, tuple)) else [value])
    return found


def _target(kind: str | None, tensors: list[Any], device_type: str) -> Any:
    """The dtype to cast to, None for none."""
    if kind == "lower":
        return get_autocast_dtype(device_type)
    if kind == "float32":
        return dtypes.float32
    if kind == "promote":
        kinds = {t.dtype for t in tensors if t.dtype.name in _WIDTH}
        return max(kinds, key=lambda dtype: _WIDTH[dtype.name]) if len(kinds) > 1 else None
    return None


def cast_value(value: Any, device_type: str, dtype: Any) -> Any:
    """Return a floating-point tensor of the device in another dtype, lists item by item, anything else as it is."""
    if isinstance(value, (list, tuple)):
        return type(value)(cast_value(item, device_type, dtype) for item in value)
    if not isinstance(value, TensorBase) or value.dtype is dtype:
        return value
    if not value.dtype.is_floating_point or value.dtype is dtypes.float64 or value.device.type != device_type:
        return value
    keep = (
        is_autocast_cache_enabled()
        and dtype is not dtypes.float32
        and value.dtype is dtypes.float32
        and value.requires_grad  # type: ignore[attr-defined]
        and value.is_leaf  # type: ignore[attr-defined]
        and value._view is None
    )
    if not keep:
        return value.to(dtype)  # type: ignore[attr-defined]
    kept = cast_cache().get(id(value))
    if kept is None or kept[0]() is not value or kept[1].dtype is not dtype:
        kept = cast_cache()[id(value)] = (weakref.ref(value), value.to(dtype))  # type: ignore[attr-defined]
    return kept[1]
