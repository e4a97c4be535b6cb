"""Small conversions layers share: single values to tuples, state dict prefixes."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.nn._tuples import (
    _list_with_default,
    _ntuple,
    _pair,
    _quadruple,
    _reverse_repeat_tuple,
    _single,
    _triple,
)

__all__ = [
    "_list_with_default",
    "_ntuple",
    "_pair",
    "_quadruple",
    "_reverse_repeat_tuple",
    "_single",
    "_triple",
    "consume_prefix_in_state_dict_if_present",
]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Strip ``prefix`` from the keys of ``state_dict`` and of its metadata, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in list(metadata):
        # The entry of the wrapped module itself is the prefix without its dot.
        if key and key.startswith((prefix, prefix.replace(".", ""))):
            metadata[key[len(prefix) :]] = metadata.pop(key)


adopt(globals())
