"""Batching rules that programs give operators: what `vmap` calls for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_autograd.function_batching import VmapInfo, checked_rule, dims_of
from mindtorch_dispatch.batching import Batch
from mindtorch_dispatch.batching.rules.table import Rule, registered
from mindtorch_dispatch.extend.boxing import trimmed
from mindtorch_dispatch.table import OpRow, packets


def register_rule(row: OpRow, func: Callable[..., Any]) -> None:
    """Make `func(info, in_dims, *args, **kwargs) -> (output, out_dims)` the batching rule of an operator."""

    def rule(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> tuple[Any, Any]:
        args, named = trimmed(row.schema.arguments, values)
        positional = (dim for argument, dim in zip(row.schema.arguments, dims, strict=True) if not argument.kwarg_only)
        places = tuple(_place(value, dim) for value, dim in zip(args, positional, strict=False))
        info = VmapInfo(batch.size, batch.randomness)
        output, out_dims = checked_rule(func(info, places, *args, **named))
        return output, dims_of(output, out_dims)

    registered[row.name] = Rule(rule)
    packets[row.packet].forget_plans()


def _place(value: Any, dim: Any) -> Any:
    """Return where the batch is in an argument; of a list, a list with an entry for each of its values."""
    if isinstance(value, list):
        return list(dim) if isinstance(dim, list) else [None] * len(value)
    return dim
