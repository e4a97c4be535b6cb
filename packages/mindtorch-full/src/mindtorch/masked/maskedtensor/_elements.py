"""Operators that work element by element on tensors with masks: on the specified elements alone, where those are sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch

from .core import _map_mt_args_kwargs

OnElements = Callable[..., Any]


def names_in_place(names: list[str], without: set[str]) -> list[str]:
    """Return the names of the forms in place."""
    return [name + "_" for name in names if name not in without]


def packets(names: list[str]) -> list[Any]:
    """Return the packets of `torch.ops.aten` that have the names."""
    return [getattr(torch.ops.aten, name) for name in names]


def data_and_mask(args: Any, kwargs: Any) -> tuple[list[Any], Any]:
    """Return the arguments with data in place of tensors with masks, and the mask of the first of them."""
    data, _ = _map_mt_args_kwargs(args, kwargs, lambda tensor: tensor._masked_data)
    masks, _ = _map_mt_args_kwargs(args, kwargs, lambda tensor: tensor._masked_mask)
    return data, masks[0]


def on_elements(fn: OnElements, args: list[Any], values: list[Any]) -> Any:
    """Return `fn` of the arguments, in the layout of the first; of a sparse one `fn` takes `values` in their place."""
    first = args[0]
    if first.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(first.indices(), fn(*values), first.size())
    if first.layout is torch.sparse_csr:
        return torch.sparse_csr_tensor(first.crow_indices(), first.col_indices(), fn(*values), first.size())
    return fn(*args)
