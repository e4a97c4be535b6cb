"""State dicts of one level from nested ones, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE
from mindtorch.tensor.tensor import Tensor

Path = tuple[str | int, ...]
FLATTEN_MAPPING = dict[str, Path]


def _is_leaf(value: object) -> bool:
    """Whether a value is stored as one: anything but mappings, and lists with tensors or mappings in them."""
    if isinstance(value, Mapping):
        return False
    if not isinstance(value, list):
        return True
    return not any(isinstance(v, Tensor) or (isinstance(v, (Mapping, list)) and not _is_leaf(v)) for v in value)


def traverse_state_dict(state_dict: Mapping[str, Any], visitor: Callable[[Path, object], None]) -> None:
    """Call a function with every leaf and the keys that lead to it."""

    def visit(path: Path, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                visit((*path, str(key)), inner)
        elif _is_leaf(value):
            visitor(path, value)
        else:
            for index, inner in enumerate(value):
                visit((*path, index), inner)

    for key, value in state_dict.items():
        visit((str(key),), value)


def flatten_state_dict(state_dict: STATE_DICT_TYPE) -> tuple[STATE_DICT_TYPE, FLATTEN_MAPPING]:
    """Return leaves by their keys joined with dots, and the keys by the joined ones."""
    flat: STATE_DICT_TYPE = {}
    mapping: FLATTEN_MAPPING = {}

    def put(path: Path, value: object) -> None:
        name = ".".join(map(str, path))
        if name in flat:
            raise ValueError(f"duplicated flatten key {name}")
        flat[name], mapping[name] = value, path

    traverse_state_dict(state_dict, put)
    return flat, mapping


def unflatten_state_dict(state_dict: STATE_DICT_TYPE, mapping: FLATTEN_MAPPING) -> STATE_DICT_TYPE:
    """Return the nested state dict that `flatten_state_dict` was given."""
    nested: STATE_DICT_TYPE = {}
    for name, value in state_dict.items():
        set_element(nested, mapping[name], value)
    return nested


def set_element(root_dict: STATE_DICT_TYPE, path: Path, value: object) -> None:
    """Put a value where keys lead; dicts and lists on the way are made."""
    container: Any = root_dict
    for key, following in zip(path, (*path[1:], None), strict=True):
        if isinstance(key, int):
            container.extend([None] * (key + 1 - len(container)))
        if following is None:
            container[key] = value
            return
        made: Any = {} if isinstance(following, str) else []
        if isinstance(container, Mapping):
            container = container.setdefault(key, made)  # type: ignore[attr-defined] # it is a dict
        else:
            if container[key] is None:
                container[key] = made
            container = container[key]


adopt(globals())
