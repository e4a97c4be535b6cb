"""Resizing by an output size or by factors: the overloads that `interpolate` calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..call import aten
from ..meta.checks import check


def _target(input: Any, output_size: Any, scale_factors: Any) -> list[int]:
    """Return the output size that one of the two arguments gives."""
    spatial = len(input.shape) - 2
    check(
        (output_size is None) != (scale_factors is None),
        lambda: "Must specify exactly one of output_size and scale_factors",
    )
    if output_size is not None:
        return list(output_size)
    check(
        len(scale_factors) == spatial, lambda: "Input and scale_factors must have the same number of spatial dimensions"
    )
    return [_extent(extent * factor) for extent, factor in zip(input.shape[2:], scale_factors, strict=True)]


def _extent(size: float) -> int:
    """Return the integer below a computed extent; torch's error for one that 64 bits do not hold."""
    check(-(2.0**63) <= size < 2.0**63, lambda: "value cannot be converted to type int64_t without overflow")
    return int(size)


def by_size_or_factors(name: str, dims: int) -> Callable[..., Any]:
    """Return the `.vec` overload of the op `name`."""

    def call(input: Any, output_size: object, *rest: Any) -> Any:
        *align, factors = rest
        size = _target(input, output_size, factors)
        scales = list(factors) if factors is not None else [None] * dims
        return getattr(aten, name).default(input, size, *align, *scales[:dims])

    return call
