"""`torch.autograd.function`."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.functions.checks import typename
from mindtorch_autograd.function import (
    BackwardCFunction,
    Function,
    FunctionCtx,
    FunctionMeta,
    InplaceFunction,
    NestedIOFunction,
    once_differentiable,
)

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


def _nested_map(
    condition: Callable[[Any], bool], fn: Callable[[Any], Any], condition_msg: str | None = None
) -> Callable[[Any], Any]:
    """Return a function that applies ``fn`` to what meets a condition, also in lists, tuples and dictionaries."""

    def mapped(obj: Any) -> Any:
        if condition(obj):
            return fn(obj)
        if obj is None:
            return None
        if isinstance(obj, (list, tuple)):
            items = map(mapped, obj)
            return type(obj)(*items) if hasattr(obj, "_fields") else type(obj)(items)
        if isinstance(obj, dict):
            return {key: mapped(value) for key, value in obj.items()}
        accepted = f". Accepted types: {condition_msg}, or lists/tuples of them" if condition_msg else ""
        raise ValueError(f"Auto nesting doesn't know how to process an input object of type {typename(obj)}{accepted}")

    return mapped


adopt(globals())
