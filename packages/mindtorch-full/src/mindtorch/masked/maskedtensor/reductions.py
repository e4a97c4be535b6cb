"""Reductions of tensors with masks: of the elements that the mask leaves, with a mask of where there were any."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import LazyModule

from ._elements import packets
from .core import is_masked_tensor, unsupported
from .creation import as_masked_tensor, masked_tensor

__all__: list[str] = []

_ops = LazyModule("mindtorch.masked._ops", "its functions take tensors of this class")

REDUCE_NAMES = "sum mean amin amax argmin argmax prod all norm var std".split()
NATIVE_REDUCE_FNS = packets(REDUCE_NAMES)
TORCH_REDUCE_FNS = [getattr(torch, name) for name in REDUCE_NAMES]
TENSOR_REDUCE_FNS = [getattr(torch.Tensor, name) for name in REDUCE_NAMES]
_OPERATORS = dict(zip(NATIVE_REDUCE_FNS, REDUCE_NAMES, strict=True))
_FUNCTIONS = dict(zip(TORCH_REDUCE_FNS + TENSOR_REDUCE_FNS, REDUCE_NAMES * 2, strict=True))


def _is_reduction(fn: Any) -> bool:
    return fn in _OPERATORS or fn in _FUNCTIONS


def _reduce_dim_args(input: Any, dim: Any, keepdim: bool = False, dtype: Any = None) -> tuple[Any, Any, bool, Any]:
    """Return the arguments that functions take; TypeError, in Python's words, for others."""
    return input, dim, keepdim, dtype


def _filled(data: Any, mask: Any) -> Any:
    return data if mask is None else data.masked_fill(~mask, True)


def _multidim_any(mask: Any, dim: int | Sequence[int], keepdim: bool) -> Any:
    """Return where a mask leaves anything along dimensions."""
    for one in sorted([dim] if isinstance(dim, int) else dim, reverse=True):
        mask = torch.any(mask, dim=one, keepdim=keepdim)
    return mask


def _place_of_sparse(name: str, data: Any, mask: Any) -> Any:
    """Return the place of the extreme specified element, counted over all elements."""
    found = getattr(_ops, name)(data.values(), mask=mask).to(torch.int32)
    place = data.indices().unbind(1)[found]
    steps = data.size().numel() / torch.tensor(data.size(), device=data.device).cumprod(0)
    return torch.sum(place * steps)


def _reduce_all(name: str, tensor: Any) -> Any:
    data, mask = tensor.get_data(), tensor.get_mask()
    if tensor.is_sparse:
        mask = mask.values()
    if name == "all":
        result = _filled(data, mask).all()
    elif name in ("argmin", "argmax") and tensor.is_sparse_coo():
        result = _place_of_sparse(name, data, mask)
    elif tensor.is_sparse:
        result = getattr(_ops, name)(masked_tensor(data.values(), mask))
    else:
        result = getattr(_ops, name)(tensor, mask=mask)
    return as_masked_tensor(result, torch.any(mask))


def _reduce_dim(name: str, tensor: Any, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    if tensor.is_sparse:
        warnings.warn(unsupported(f"The sparse version of {name} is not implemented in reductions."), stacklevel=2)
        return NotImplemented
    if not is_masked_tensor(tensor):
        raise TypeError("Input to reduce_dim must be a MaskedTensor")
    mask = tensor.get_mask()
    if name == "all":
        result = torch.all(_filled(tensor.get_data(), mask), dim=dim, keepdim=keepdim)
    else:
        result = getattr(_ops, name)(tensor, dim=dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return as_masked_tensor(result, _multidim_any(mask, dim, keepdim))


def _apply_reduction(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the reduction; NotImplemented for a function or operator that is none of them."""
    name = _OPERATORS.get(fn) or _FUNCTIONS.get(fn)
    if name is None:
        return NotImplemented
    if len(args) == 1 and not kwargs:
        return _reduce_all(name, args[0])
    if fn in _OPERATORS:
        return _reduce_dim(name, *args, **kwargs)
    return _reduce_dim(name, *_reduce_dim_args(*args, **kwargs))


adopt(globals())
