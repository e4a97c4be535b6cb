"""Operators that move elements: data and mask go through them alike."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

from ._elements import packets
from .core import _map_mt_args_kwargs, _wrap_result

__all__: list[str] = []

PASSTHROUGH_FNS = packets(
    "select transpose split t slice slice_backward select_backward index expand view _unsafe_view _reshape_alias cat "
    "unsqueeze unfold unfold_backward im2col col2im stack".split()
)


def _is_pass_through_fn(fn: Any) -> bool:
    return fn in PASSTHROUGH_FNS


def _apply_pass_through_fn(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the operator of the data, with that of the masks."""
    data, data_named = _map_mt_args_kwargs(args, kwargs, lambda tensor: tensor.get_data())
    masks, masks_named = _map_mt_args_kwargs(args, kwargs, lambda tensor: tensor.get_mask())
    return _wrap_result(fn(*data, **data_named), fn(*masks, **masks_named))


adopt(globals())
