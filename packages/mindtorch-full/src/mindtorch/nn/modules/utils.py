"""Small conversions layers share: single values to tuples, state dict prefixes."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.nn._tuples import (
    _list_with_default as _list_with_default,
)
from mindtorch.nn._tuples import (
    _ntuple as _ntuple,
)
from mindtorch.nn._tuples import (
    _pair as _pair,
)
from mindtorch.nn._tuples import (
    _quadruple as _quadruple,
)
from mindtorch.nn._tuples import (
    _reverse_repeat_tuple as _reverse_repeat_tuple,
)
from mindtorch.nn._tuples import (
    _single as _single,
)
from mindtorch.nn._tuples import (
    _triple as _triple,
)

__all__ = ["consume_prefix_in_state_dict_if_present"]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Strip ``prefix`` from the keys of ``state_dict`` and of its metadata, in place.

    >>> state = {"module.weight": 1, "module.bias": 2}
    >>> torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> state
    {'weight': 1, 'bias': 2}
    """
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
