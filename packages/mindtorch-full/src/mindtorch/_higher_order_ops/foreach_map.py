"""`torch._higher_order_ops.foreach_map`: a function over lists of tensors, place by place."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any


def foreach_map(op: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """Return what ``op`` makes of the first values of all lists, of the second ones, and so on, until one list ends.

    Args:
        operands: lists or tuples; anything else is the same at every place. Without a list `op` is called once.
        kwargs: given to each call.

    >>> import torch
    >>> from torch._higher_order_ops.foreach_map import foreach_map
    >>> foreach_map(torch.add, [torch.ones(1), torch.zeros(1)], 2)
    [tensor([3.]), tensor([2.])]
    """
    if not any(isinstance(operand, list | tuple) for operand in operands):
        return op(*operands, **kwargs)
    rows = [operand if isinstance(operand, list | tuple) else itertools.repeat(operand) for operand in operands]
    return [op(*row, **kwargs) for row in zip(*rows, strict=False)]


foreach_map.__module__ = "torch._higher_order_ops.foreach_map"
