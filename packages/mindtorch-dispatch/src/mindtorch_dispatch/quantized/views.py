"""Views of quantized tensors, which are those of their integers, and what is written in place."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.quantized import PER_TENSOR

from ..call import aten
from ..interface.wiring import wired
from ..meta.checks import check
from .table import generic
from .tensors import integers, over, quantizer, replace, shaped


def written(base: Any, tensor: Any, *rest: Any) -> Any:
    """Give `tensor` the integers of what `base` computes, and its quantizer."""
    new = base(tensor, *rest)
    aten.copy_(integers(tensor), integers(new))
    tensor._array.quantizer = quantizer(new)
    return tensor


def _split(row: Any, rest: tuple[Any, ...]) -> tuple[list[Any], dict[str, Any]]:
    named = list(zip(row.schema.arguments[1:], rest, strict=False))
    args = [value for argument, value in named if not argument.kwarg_only]
    return args, {argument.name: value for argument, value in named if argument.kwarg_only}


def _uniform(tensor: Any) -> None:
    check(
        quantizer(tensor).scheme is PER_TENSOR,
        lambda: "Setting strides is possible only on uniformly quantized tensor",
    )


def view(row: Any, tensor: Any, *rest: Any) -> Any:
    """Return the view that a row makes."""
    _uniform(tensor)
    args, kwargs = _split(row, rest)
    return shaped(tensor, lambda whole: wired.call_overload(row, (whole, *args), kwargs))


def reshaped(row: Any, tensor: Any, *rest: Any) -> Any:
    """Give a tensor another geometry over its memory."""
    _uniform(tensor)
    args, kwargs = _split(row, rest)
    changed = wired.call_overload(row, (aten.alias(integers(tensor)), *args), kwargs)
    return replace(tensor, over(changed, tensor.dtype, quantizer(tensor)))


generic.update(view=view, reshaped=reshaped, written=written)
