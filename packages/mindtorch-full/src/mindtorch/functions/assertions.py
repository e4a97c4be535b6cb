"""Assertions about values, and shapes as tensors."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch_storage.storage.elements import c_name
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
    if input.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if input.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    if not input.item():
        raise RuntimeError(
            "Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg
        )


def _assert_tensor_metadata(
    a: Any, size: Any = None, stride: Any = None, dtype: Any = None, *, device: Any = None, layout: Any = None
) -> None:
    """Raise RuntimeError where a tensor has another geometry, dtype, device or layout than those that are given."""
    strides = [0] * a.dim() if a.layout is not mindtorch.strided else a.stride()
    for name, wanted, found in (("sizes", size, a.shape), ("strides", stride, strides)):
        if wanted is not None and list(wanted) != list(found):
            raise RuntimeError(f"Tensor {name} mismatch! Expected: {list(wanted)}, Got: {list(found)}")
    if dtype is not None and a.dtype is not dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype.scalar_name}, Got: {c_name(a.dtype)}")
    if device is not None and a.device != mindtorch.device(device):
        raise RuntimeError(f"Tensor device mismatch! Expected: {device}, Got: {a.device}")
    if layout is not None and a.layout is not layout:
        raise RuntimeError(f"Tensor layout mismatch! Expected: {_layout_name(layout)}, Got: {_layout_name(a.layout)}")


def _layout_name(layout: Any) -> str:
    name = str(layout).removeprefix("torch.").removesuffix("_coo")
    return "".join(part.capitalize() for part in name.split("_"))


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
    return mindtorch.tensor(list(input.shape), dtype=mindtorch.int64)


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
