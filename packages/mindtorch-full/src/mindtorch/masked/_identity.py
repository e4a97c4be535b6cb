"""What hidden elements count as: the element that leaves a reduction as it is."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._combine import combine
from ._masks import _input_mask
from ._sparse import where as _where

__all__: list[str] = []

_LOW = ("amax", "argmax", "logaddexp")
_HIGH = ("amin", "argmin")


def _reduction_identity(op_name: str, input: Any, *args: Any) -> Any:
    """The value that changes nothing in a reduction, as a 0-d tensor; None where there is none."""
    op_name = op_name.rpartition(".")[2]  # `masked.sum` is a name too
    dtype, where = input.dtype, {"dtype": input.dtype, "device": input.device}
    if op_name in ("sum", "cumsum"):
        return torch.tensor(0, **where)
    if op_name in ("prod", "cumprod"):
        return torch.tensor(1, **where)
    if op_name in (*_LOW, *_HIGH):
        sign = -1 if op_name in _LOW else 1
        if dtype.is_floating_point:
            return torch.tensor(sign * math.inf, **where)
        if dtype.is_signed or dtype == torch.uint8:
            info = torch.iinfo(dtype)
            return torch.tensor(info.min if sign < 0 else info.max, **where)
    elif op_name == "logsumexp":
        if dtype.is_floating_point:
            return torch.tensor(-math.inf, **where)
        if dtype.is_complex:
            return torch.tensor(-math.inf + 0j, **where)
        if dtype.is_signed or dtype == torch.uint8:
            return torch.tensor(torch.iinfo(dtype).min, **where)
    elif op_name in ("mean", "var", "std"):
        return None
    elif op_name == "norm":
        order = args[0] if args else 2
        if order == -math.inf:
            return torch.tensor(math.inf, **where)
        return torch.tensor(0, **where)
    elif op_name == "median":
        return torch.tensor(math.nan, device=input.device, dtype=dtype if dtype.is_floating_point else torch.float32)
    raise NotImplementedError(f"identity of {op_name} on {dtype} input")


def _masked(op_name: str, input: Any, mask: Any, *args: Any) -> Any:
    """The input with the identity in the places the mask hides; its own, where it carries one."""

    def filled(data: Any, shown: Any) -> Any:
        if shown is None:
            return data
        return _where(_input_mask(data, mask=shown), data, _reduction_identity(op_name, data, *args))

    return combine(filled, input, mask)


def _combine_input_and_mask(op: Any, input: Any, mask: Any, *args: Any) -> Any:
    """The same for the masked operation `op`; ValueError for what is none."""
    if not callable(op) and mask is not None:
        raise ValueError(f"_combine_input_and_mask expected masked operation (got {type(op).__name__} object)")
    return _masked(getattr(op, "__name__", ""), input, mask, *args)


adopt(globals())
