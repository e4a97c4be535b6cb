"""Writes through views: from a tensor and the new contents of a view of it to the tensor's new contents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.call import aten

Inverse = Callable[..., Any]


def _same_elements(base: Any, value: Any, *_: Any) -> Any:
    """For views that show all elements in their order."""
    return aten.reshape(value, list(base.shape))


def _itself(base: Any, value: Any, *_: Any) -> Any:
    return value


def _permuted(base: Any, value: Any, dims: Any) -> Any:
    back = [0] * len(dims)
    for place, dim in enumerate(dims):
        back[dim % len(dims)] = place
    return aten.permute(value, back)


def _sliced(base: Any, value: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return aten.slice_scatter(base, value, dim, start, end, step)


def _diagonal(base: Any, value: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return aten.diagonal_scatter(base, value, offset, dim1, dim2)


_INVERSES: dict[str, Inverse] = {
    "view": lambda base, value, *_: _viewed(base, value),
    "_reshape_alias": _same_elements,
    "unsqueeze": _same_elements,
    "squeeze": _same_elements,
    "alias": _itself,
    "detach": _itself,
    "lift_fresh": _itself,
    "t": lambda base, value: aten.t(value),
    "transpose": lambda base, value, dim0, dim1: aten.transpose(value, dim0, dim1),
    "permute": _permuted,
    "select": lambda base, value, dim, index: aten.select_scatter(base, value, dim, index),
    "slice": _sliced,
    "diagonal": _diagonal,
    "view_as_real": lambda base, value: aten.view_as_complex(value),
    "view_as_complex": lambda base, value: aten.view_as_real(value),
    "as_strided": lambda base, value, size, stride, offset=None: aten.as_strided_scatter(
        base, value, size, stride, offset
    ),
}


def _viewed(base: Any, value: Any) -> Any:
    if base.dtype is not value.dtype:
        return aten.view(value, base.dtype)
    return _same_elements(base, value)


def _piece(base: Any, value: Any, number: int, dim: int, start: int) -> Any:
    return aten.slice_scatter(base, value, dim, start, start + value.shape[dim])


def _split(base: Any, value: Any, number: int, size: int, dim: int = 0) -> Any:
    return _piece(base, value, number, dim % base.ndim, number * size)


def _split_with_sizes(base: Any, value: Any, number: int, sizes: Any, dim: int = 0) -> Any:
    return _piece(base, value, number, dim % base.ndim, sum(sizes[:number]))


_PARTS: dict[str, Inverse] = {
    "split": _split,
    "split_with_sizes": _split_with_sizes,
    "unbind": lambda base, value, number, dim=0: aten.select_scatter(base, value, dim, number),
}
"""Views that cut a tensor into several: the inverse also gets which of them was written."""


def written_back(name: str, number: int | None, base: Any, value: Any, args: Any, kwargs: Any) -> Any:
    """Return `base` with its view by operator `name` (part `number` of several) replaced by `value`.

    NotImplementedError for a view that has no inverse, such as one that shows elements twice.
    """
    inverse = _INVERSES.get(name) if number is None else _PARTS.get(name)
    if inverse is None:
        raise NotImplementedError(f"functionalize: a view made by {name} cannot be written to")
    return inverse(base, value, *args, **kwargs) if number is None else inverse(base, value, number, *args, **kwargs)
