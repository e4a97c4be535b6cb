"""Batches in memory the device can read directly."""

from __future__ import annotations

import collections.abc
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from .collate import _is_namedtuple, _like_mapping, _like_sequence


def pin_memory(data: Any, device: Any = None) -> Any:
    """Copy the tensors inside nested containers to pinned memory."""
    if isinstance(data, torch.Tensor):
        return data.pin_memory() if device is None else data.pin_memory(device)
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {key: pin_memory(item, device) for key, item in data.items()})
    if _is_namedtuple(data):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, tuple):
        return [pin_memory(item, device) for item in data]
    if isinstance(data, collections.abc.Sequence):
        return _like_sequence(data, [pin_memory(item, device) for item in data])
    return data


adopt(globals())
