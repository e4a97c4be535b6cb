"""Specs as JSON text, in torch's protocol 1."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from mindtorch_storage.lazy_import import load

from .registry import (
    NO_SERIALIZED_TYPE_NAME_FOUND,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_SERIALIZED_TYPES,
)
from .spec import TreeSpec, check_spec, treespec_leaf

DEFAULT_PROTOCOL = 1


@dataclasses.dataclass
class _TreeSpecSchema:
    """One node as it is written; a leaf has no type."""

    type: str | None
    context: Any
    children_spec: list[_TreeSpecSchema]


class _Protocol(NamedTuple):
    write: Callable[[TreeSpec], Any]
    read: Callable[[Any], TreeSpec]


class EnumEncoder(json.JSONEncoder):
    """Writes enum members by name."""

    def default(self, obj: object) -> Any:
        """An enum member as a dictionary naming it."""
        if isinstance(obj, Enum):
            cls = type(obj)
            return {"__enum__": True, "fqn": f"{cls.__module__}:{cls.__qualname__}", "name": obj.name}
        return super().default(obj)


def enum_object_hook(obj: dict[str, Any]) -> Any:
    """Read back what :class:`EnumEncoder` wrote."""
    if "__enum__" not in obj:
        return obj
    module_name, _, qualname = obj["fqn"].partition(":")
    value: Any = load(module_name)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value[obj["name"]]


def treespec_to_json(treespec: TreeSpec) -> _TreeSpecSchema:
    """A spec as written nodes."""
    if treespec.is_leaf():
        return _TreeSpecSchema(None, None, [])
    if treespec.type not in SUPPORTED_SERIALIZED_TYPES:
        raise NotImplementedError(f"Serializing {treespec.type} in pytree is not registered.")
    entry = SUPPORTED_SERIALIZED_TYPES[treespec.type]
    if entry.serialized_type_name == NO_SERIALIZED_TYPE_NAME_FOUND:
        raise NotImplementedError(
            f"No registered serialization name for {treespec.type} found. "
            "Please update your _register_pytree_node call with a `serialized_type_name` kwarg."
        )
    if entry.to_dumpable_context is None:
        try:
            context = json.dumps(treespec.context, cls=EnumEncoder)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. "
                "Please make the context json dump-able, or register a "
                "custom serializer using _register_pytree_node."
            ) from error
    else:
        context = entry.to_dumpable_context(treespec.context)
    children = [treespec_to_json(child) for child in treespec._children]
    return _TreeSpecSchema(entry.serialized_type_name, context, children)


def json_to_treespec(json_schema: Any) -> TreeSpec:
    """Written nodes as a spec."""
    if json_schema["type"] is None and json_schema["context"] is None and not json_schema["children_spec"]:
        return treespec_leaf()
    name = json_schema["type"]
    if name not in SERIALIZED_TYPE_TO_PYTHON_TYPE:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    cls = SERIALIZED_TYPE_TO_PYTHON_TYPE[name]
    entry = SUPPORTED_SERIALIZED_TYPES[cls]
    if entry.from_dumpable_context is None:
        try:
            context = json.loads(json_schema["context"], object_hook=enum_object_hook)
        except TypeError as error:
            raise TypeError(
                "Unable to deserialize context. "
                "Please make the context json load-able, or register a "
                "custom serializer using _register_pytree_node."
            ) from error
    else:
        context = entry.from_dumpable_context(json_schema["context"])
    return TreeSpec(cls, context, [json_to_treespec(child) for child in json_schema["children_spec"]])


_PROTOCOLS: dict[int, _Protocol] = {DEFAULT_PROTOCOL: _Protocol(treespec_to_json, json_to_treespec)}


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Write a spec as text."""
    check_spec(treespec)
    protocol = DEFAULT_PROTOCOL if protocol is None else protocol
    if protocol not in _PROTOCOLS:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {list(_PROTOCOLS)}")
    return json.dumps((protocol, dataclasses.asdict(_PROTOCOLS[protocol].write(treespec))), cls=EnumEncoder)


def treespec_loads(serialized: str) -> TreeSpec:
    """Read back what :func:`treespec_dumps` wrote."""
    protocol, schema = json.loads(serialized, object_hook=enum_object_hook)
    if protocol not in _PROTOCOLS:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {list(_PROTOCOLS)}")
    return _PROTOCOLS[protocol].read(schema)


def pytree_to_str(treespec: TreeSpec) -> str:
    """The older name of :func:`treespec_dumps`."""
    warnings.warn("`pytree_to_str` is deprecated. Please use `treespec_dumps` instead.", FutureWarning, stacklevel=2)
    return treespec_dumps(treespec)


def str_to_pytree(json: str) -> TreeSpec:
    """The older name of :func:`treespec_loads`."""
    warnings.warn("`str_to_pytree` is deprecated. Please use `treespec_loads` instead.", FutureWarning, stacklevel=2)
    return treespec_loads(json)
