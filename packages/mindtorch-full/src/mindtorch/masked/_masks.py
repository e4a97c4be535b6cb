"""The masks of inputs and outputs of masked operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._sparse import in_layout

_REDUCTIONS = frozenset(
    {"sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var", "std", "logsumexp"}
)
_NORMALIZATIONS = frozenset({"softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"})
_ORDERED = frozenset({"norm", "normalize"})
"""Operations that take an order before the dimension."""


def _canonical_dim(dim: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions as positive numbers; none named, or an empty tuple, means all."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    found = []
    for one in dim if isinstance(dim, (tuple, list)) else (dim,):
        if one in found:
            raise RuntimeError(f"dim={one} appears multiple times in the list of dims")
        if one >= ndim or one < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {one})"
            )
        found.append(one % ndim)
    return tuple(sorted(found))


def _input_mask(input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the mask, given by name, as booleans of the input's shape; ValueError when there is none."""
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return in_layout(mask, input)


def _output_mask(op: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return which elements of a masked operation's result come from elements that the mask leaves.

    Raises ValueError for a callable that is no masked operation, or one of two inputs.
    """
    if not isinstance(op, Callable):  # type: ignore[arg-type]
        raise ValueError(f"_output_mask expected masked operation (got {type(op).__name__} object)")
    if op.__name__ in _NORMALIZATIONS:
        return _input_mask(input, *args, **kwargs)
    if op.__name__ not in _REDUCTIONS:
        raise ValueError(f"_output_mask expected masked operation (got callable {op.__module__}.{op.__name__})")
    positional = args[1:] if op.__name__ in _ORDERED else args
    dim = positional[0] if positional else kwargs.get("dim")
    found = _input_mask(input, *args, **kwargs)
    keepdim = kwargs.get("keepdim", False)
    for one in reversed(_canonical_dim(dim, input.ndim)):
        found = found.any(dim=one, keepdim=bool(keepdim)) if found.ndim else found
    return found
