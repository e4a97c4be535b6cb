"""Batching rules that programs give operators: what `vmap` calls for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_autograd.function_batching import VmapInfo, checked_rule, dims_of
from mindtorch_dispatch.batching import Batch
from mindtorch_dispatch.batching.rules.table import Rule, registered
from mindtorch_dispatch.table import OpRow, packets


def register_rule(row: OpRow, func: Callable[..., Any]) -> None:
    """Make `func(info, in_dims, *args, **kwargs) -> (output, out_dims)` the batching rule of an operator."""

    def rule(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> tuple[Any, Any]:
        args, named, places = _given(row, values, dims)
        info = VmapInfo(batch.size, batch.randomness)
        output, out_dims = checked_rule(func(info, tuple(places), *args, **named))
        return output, dims_of(output, out_dims)

    registered[row.name] = Rule(rule)
    packets[row.packet].forget_plans()


def _given(row: OpRow, values: list[Any], dims: list[Any]) -> tuple[list[Any], dict[str, Any], list[Any]]:
    """Return positional and keyword arguments, and the dimensions of the former; what ends in defaults is left out."""
    arguments = row.schema.arguments
    positional = [number for number, argument in enumerate(arguments) if not argument.kwarg_only]
    while positional and _is_default(arguments[positional[-1]], values[positional[-1]]):
        positional.pop()
    named = {
        argument.name: value
        for argument, value in zip(arguments, values, strict=True)
        if argument.kwarg_only and not _is_default(argument, value)
    }
    places = [tuple(dims[number]) if isinstance(dims[number], list) else dims[number] for number in positional]
    return [values[number] for number in positional], named, places


def _is_default(argument: Any, value: Any) -> bool:
    return argument.has_default and type(argument.default) is type(value) and argument.default == value
