"""State dicts of one level from nested ones, and back."""

from __future__ import annotations

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint._traverse import OBJ_PATH, set_element, traverse_state_dict
from mindtorch.distributed.checkpoint.metadata import STATE_DICT_TYPE

FLATTEN_MAPPING = dict[str, OBJ_PATH]


def flatten_state_dict(state_dict: STATE_DICT_TYPE) -> tuple[STATE_DICT_TYPE, FLATTEN_MAPPING]:
    """Return leaves by their keys joined with dots, and the keys by the joined ones."""
    flat: STATE_DICT_TYPE = {}
    mapping: FLATTEN_MAPPING = {}

    def put(path: OBJ_PATH, value: object) -> None:
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


adopt(globals())
