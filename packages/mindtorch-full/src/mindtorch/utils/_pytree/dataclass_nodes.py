"""Dataclasses as tree nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from .keys import GetAttrKey
from .registry import register_pytree_node


def register_dataclass(
    cls: type[Any],
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a class whose constructor takes its fields by name a node; fields that are None are not children."""
    flatten, unflatten, with_keys = functions_of_fields(cls, field_names, drop_field_names)
    register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=serialized_type_name, flatten_with_keys_fn=with_keys
    )


def functions_of_fields(
    cls: type[Any], field_names: list[str] | None = None, drop_field_names: list[str] | None = None
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Return what takes an object of a class apart, makes one again, and takes it apart with the names of its fields."""
    drop = drop_field_names or []
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls) if field.init]
        if field_names is None:
            field_names = [name for name in names if name not in drop]
        _check_fields(set(names), set(field_names), set(drop))
    elif field_names is None:
        raise ValueError(
            "field_names must be specified with a list of all fields used to "
            f"initialize {cls}, as it is not a dataclass."
        )
    kept = list(field_names)

    def flatten(obj: Any) -> tuple[list[Any], Any]:
        present, absent, values = [], [], []
        for name in kept:
            value = getattr(obj, name)
            if value is None:
                absent.append(name)
            else:
                present.append(name)
                values.append(value)
        return values, [present, absent]

    def unflatten(values: Iterable[Any], context: Any) -> Any:
        present, absent = context
        return cls(**dict(zip(present, values, strict=True)), **dict.fromkeys(absent))

    def flatten_with_keys(obj: Any) -> Any:
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values, strict=True)], context

    return flatten, unflatten, flatten_with_keys


def _check_fields(names: set[str], kept: set[str], drop: set[str]) -> None:
    message = "field_names does not include all dataclass fields.\n"
    wrong = False
    missing = names - kept - drop
    if missing:
        message += (
            f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please "
            "add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        )
        wrong = True
    unknown = kept - names
    if unknown:
        message += f"Extra fields in `field_names`: {unknown}.\n"
        wrong = True
    if wrong:
        raise ValueError(message)
