"""Walking through state dicts: what is stored as one, and the keys that lead to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE
from mindtorch.tensor.tensor import Tensor

__all__ = ["get_element", "print_tensor", "set_element", "traverse_state_dict"]

PATH_ITEM = str | int
OBJ_PATH = tuple[PATH_ITEM, ...]
Visitor = Callable[[OBJ_PATH, Any], None]


def _keep_visiting_tensors(value: object) -> bool:
    return isinstance(value, Tensor)


def _walk(value: Any, path: OBJ_PATH, visitor: Visitor, whole: Callable[[Any], bool]) -> None:
    """Call a function with everything that is stored as one."""
    if whole(value):
        visitor(path, value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _walk(inner, (*path, str(key)), visitor, whole)
    else:
        for index, inner in enumerate(value):
            _walk(inner, (*path, index), visitor, whole)


def _within(value: object, wanted: Callable[[object], bool], or_mapping: bool) -> bool:
    """Whether something of a kind lies in a list or a mapping, at any depth."""
    if isinstance(value, (list, Mapping)):
        inner = value.values() if isinstance(value, Mapping) else value
        return (or_mapping and isinstance(value, Mapping)) or any(_within(one, wanted, or_mapping) for one in inner)
    return wanted(value)


def traverse_state_dict(
    state_dict: STATE_DICT_TYPE, visitor: Visitor, keep_traversing: Callable[[object], bool] = _keep_visiting_tensors
) -> None:
    """Call a function with every value and the keys that lead to it; lists without tensors and mappings stay whole."""

    def whole(value: object) -> bool:
        if isinstance(value, Mapping):
            return False
        return not isinstance(value, list) or not _within(value, keep_traversing, True)

    for key, value in state_dict.items():
        _walk(value, (str(key),), visitor, whole)


def traverse_state_dict_v_2_3(
    state_dict: STATE_DICT_TYPE, visitor: Visitor, keep_traversing: Callable[[object], bool] = _keep_visiting_tensors
) -> None:
    """Do so as torch 2.3 did: mappings without tensors stay whole too."""

    def whole(value: object) -> bool:
        return not isinstance(value, (list, Mapping)) or not _within(value, keep_traversing, False)

    for key, value in state_dict.items():
        _walk(value, (str(key),), visitor, whole)


def set_element(root_dict: STATE_DICT_TYPE, path: OBJ_PATH, value: object) -> None:
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


def get_element(root_dict: STATE_DICT_TYPE, path: OBJ_PATH, default_value: Any = None) -> Any:
    """Return what keys lead to, and a default where they lead nowhere."""
    found: Any = root_dict
    for key in path:
        if isinstance(key, int):
            if not isinstance(found, list) or len(found) < key + 1:
                return default_value
        elif not isinstance(found, Mapping) or key not in found:
            return default_value
        found = found[key]
    return found


def print_tensor(path: OBJ_PATH, value: object, print_fun: Callable[[str], None] = print) -> None:
    """Print a path, and a tensor's size or another value's type."""
    shown = f"Tensor size: {value.size()}" if isinstance(value, Tensor) else f"Type: {type(value)}"
    print_fun(f"{path} {shown}")


adopt(globals())
