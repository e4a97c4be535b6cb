"""Assertions about values, and shapes as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch
from mindtorch_dispatch.decomp import assertions as composed
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.strides import has_internal_overlap, is_non_overlapping_and_dense

from .._overridable import as_given, make_overridable

__all__ = [
    "_assert_async",
    "_assert_tensor_metadata",
    "_debug_has_internal_overlap",
    "_nnpack_available",
    "_shape_as_tensor",
]


def _assert_async(input: Any, assert_msg: str | None = None) -> None:
    """Raise RuntimeError where the one element is zero. Devices wait here for the answer."""
    composed.assert_nonzero(input, assert_msg)


def _assert_tensor_metadata(
    a: Any,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dtype: Dtype | None = None,
    *,
    device: Device | str | None = None,
    layout: Layout | None = None,
) -> None:
    """Raise RuntimeError where a tensor has another geometry, dtype, device or layout than those that are given."""
    composed.assert_tensor_metadata(a, size, stride, dtype, device, layout)


def _debug_has_internal_overlap(input: Any) -> int:
    """Return 1 where two elements share memory, 0 where none do, 2 where the strides do not tell at a glance."""
    shape, strides = tuple(input.shape), input.stride()
    if is_non_overlapping_and_dense(shape, strides):
        return 0
    return 1 if has_internal_overlap(shape, strides) else 2


def _is_all_true(tensor: Any) -> Any:
    return mindtorch.all(tensor)


def _nnpack_available() -> bool:
    """Return whether NNPACK computes convolutions: False."""
    return False


def _shape_as_tensor(input: Any) -> Any:
    """Return the sizes of a tensor as a tensor of int64 on the CPU."""
    return composed.shape_as_tensor(input)


for _made in (
    _assert_async,
    _assert_tensor_metadata,
    _debug_has_internal_overlap,
    _is_all_true,
    _nnpack_available,
    _shape_as_tensor,
):
    _made.__module__ = "torch"
make_overridable(globals(), __all__, as_given)
