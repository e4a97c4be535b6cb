"""Binding of a Python call to an overload of its packet: which row, which values, from where in the call."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase

from .routing import Bound
from .schema import Argument, Schema
from .table import OpRow, Packet

_FACTORY_EXTRAS = ("out", "requires_grad")


def _accepts(argument: Argument, value: Any) -> bool:
    kind, is_list = argument.type.kind, argument.type.is_list
    if value is None:
        return argument.type.optional or (argument.has_default and argument.default is None)
    if is_list:
        if kind in ("int", "SymInt") and isinstance(value, int) and argument.type.size:
            return True
        return isinstance(value, (list, tuple)) and all(_accepts_one(kind, item, True) for item in value)
    return _accepts_one(kind, value, False)


def _accepts_one(kind: str, value: Any, in_list: bool) -> bool:
    if kind == "Tensor":
        return isinstance(value, TensorBase) or (in_list and value is None) or (
            not in_list and isinstance(value, (int, float, complex))
        )
    if kind in ("int", "SymInt"):
        return isinstance(value, int)
    if kind == "float":
        return isinstance(value, (int, float))
    if kind == "Scalar":
        return isinstance(value, (int, float, complex))
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "str":
        return isinstance(value, str)
    if kind == "ScalarType":
        return isinstance(value, Dtype)
    if kind == "Device":
        return isinstance(value, (Device, str))
    return True


def _match(schema: Schema, args: tuple[Any, ...], kwargs: dict[str, Any], alias_self: bool) -> list[Any] | None:
    values: list[Any] = []
    used = set()
    positional = list(args)
    for position, argument in enumerate(schema.arguments):
        name = argument.name
        if not argument.kwarg_only and positional:
            remaining = [a for a in schema.arguments[position:] if not a.kwarg_only]
            value = positional.pop(0)
            is_int_list = argument.type.is_list and argument.type.kind in ("int", "SymInt")
            if is_int_list and type(value) is int and len(remaining) >= 1 and (positional or not argument.type.size):
                value = (value, *positional)
                positional = []
        elif name in kwargs:
            value = kwargs[name]
            used.add(name)
        elif alias_self and name == "self" and "input" in kwargs:
            value = kwargs["input"]
            used.add("input")
        elif argument.has_default:
            value = argument.default
            values.append(value)
            continue
        else:
            return None
        if not _accepts(argument, value):
            return None
        if argument.type.kind == "Device" and isinstance(value, str):
            value = Device(value)
        values.append(value)
    if positional or set(kwargs) - used - set(_FACTORY_EXTRAS):
        return None
    return values


def _bound(row: OpRow, values: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    flat = (*args, *kwargs.values())
    places = {name: len(args) + i for i, name in enumerate(kwargs)}
    sources: list[int | None] = []
    cacheable = True
    for index, (argument, value) in enumerate(zip(row.schema.arguments, values, strict=True)):
        source = next((i for i, item in enumerate(flat) if item is value and isinstance(value, (TensorBase, list))), None)
        if source is None:
            source = places.get(argument.name, places.get("input") if argument.name == "self" else None)
        if source is None and not argument.kwarg_only and index < len(args):
            source = index
        if source is not None and flat[source] is not value and flat[source] != value:
            cacheable = cacheable and not isinstance(flat[source], TensorBase)
            source = None
        sources.append(source)
    bound = Bound(row, values, sources, flat)
    bound.cacheable = cacheable
    if "out" in kwargs and kwargs["out"] is not None:
        bound.out, bound.out_source = kwargs["out"], places["out"]
    bound.requires_grad = bool(kwargs.get("requires_grad", False)) and row.packet not in ("requires_grad_",)
    return bound


def bind_packet(packet: Packet, method: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return the call bound to the first overload that accepts it; TypeError with torch's text when none does."""
    for row in packet.rows:
        values = _match(row.schema, args, kwargs, alias_self=not method)
        if values is not None:
            return _bound(row, values, args, kwargs)
    raise TypeError(f"{packet.name}() received an invalid combination of arguments")


def bind_overload(row: OpRow, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return the call bound to one overload by its schema; TypeError with torch's text when it does not fit."""
    values = _match(row.schema, args, kwargs, alias_self=False)
    if values is None:
        raise TypeError(f"{row.aten_name}() received arguments that do not fit {row.schema}")
    return _bound(row, values, args, kwargs)
