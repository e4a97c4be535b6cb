"""Assertions about values, and shapes as tensors."""

from __future__ import annotations

from typing import Any

import mindtorch

from .._overridable import as_given, make_overridable

__all__ = ["_assert_async", "_shape_as_tensor"]


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise RuntimeError where the one element is zero. Devices wait here for the answer."""
    if input.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if input.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    if not input.item():
        raise RuntimeError(
            "Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg
        )


def _shape_as_tensor(input: Any) -> Any:
    """Return the sizes of a tensor as a tensor of int64 on the CPU."""
    return mindtorch.tensor(list(input.shape), dtype=mindtorch.int64)


_assert_async.__module__ = _shape_as_tensor.__module__ = "torch"
make_overridable(globals(), __all__, as_given)
