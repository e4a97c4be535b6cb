"""Names of an exported graph's inputs: those of the program's arguments, and of its parameters, buffers and constants."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from mindtorch.utils import _pytree as pytree


def by_parameter(forward: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the parameters that take them; `*rest` and `**more` take one value each."""
    return dict(inspect.signature(forward).bind(*args, **kwargs).arguments)


def leaf_path(forward: Any, path: str) -> str:
    """Return the path of an argument among those of `combined`: `rest[0]` is `rest_0`, `more['x']` is `x`."""
    name, _, place = path.partition("[")
    kind = inspect.signature(forward).parameters[name].kind
    place, _, below = place.partition("]")
    if kind is inspect.Parameter.VAR_POSITIONAL:
        return f"{name}_{place}{below}"
    return place.strip("'") + below if kind is inspect.Parameter.VAR_KEYWORD else path


def combined(forward: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name; those of `*rest` are `rest_0`, `rest_1`, ..."""
    bound = inspect.signature(forward).bind(*args, **kwargs)
    found: dict[str, Any] = {}
    parameters = inspect.signature(forward).parameters
    for name, value in bound.arguments.items():
        kind = parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            found.update({f"{name}_{place}": one for place, one in enumerate(value)})
        elif kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return found


def leaves_of(named: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """Return of every leaf of the arguments its node's name, what a program writes for it, and its value."""
    found = []
    for name, value in named.items():
        for path, leaf in pytree.tree_flatten_with_path(value)[0]:
            found.append(("_".join([name, *map(_part, path)]), name + pytree.keystr(path), leaf))
    return found


def _part(key: Any) -> str:
    for attribute in ("key", "idx", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute)).replace(".", "_")
    raise AssertionError(f"a container with keys of {type(key)}")


def lifted(prefix: str, target: str) -> str:
    """Return the name of the input of a parameter (`p`), buffer (`b`) or constant (`c`)."""
    return f"{prefix}_{target.replace('.', '_')}"
