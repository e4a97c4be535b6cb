"""Gradients of views: the incoming gradient in its place among zeros, written through a view of the result."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import written


def _place(out: DeviceArray, grad: DeviceArray, shape: Sequence[int], steps: Sequence[int], start: int) -> None:
    """Write `grad` to the view of `out` that the geometry describes, zeros elsewhere."""
    if not out.size:
        return
    launch("aclnnInplaceZero", [out])
    if grad.size:
        view = DeviceArray(out.storage, shape, out.dtype, steps, out.offset + start, out.storage)
        launch("aclnnInplaceCopy", [view, grad])


def _select(out: DeviceArray, grad: DeviceArray, input_sizes: Sequence[int], dim: int, index: int) -> None:
    dim, index = dim % out.ndim, index % out.shape[dim]
    steps = out.steps[:dim] + out.steps[dim + 1 :]
    _place(out, grad, grad.shape, steps, index * out.steps[dim])


def _slice(
    out: DeviceArray, grad: DeviceArray, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> None:
    dim %= out.ndim
    first, _, _ = slice(start, end, step).indices(out.shape[dim])
    steps = tuple(own * step if axis == dim else own for axis, own in enumerate(out.steps))
    _place(out, grad, grad.shape, steps, first * out.steps[dim])


def _diagonal(
    out: DeviceArray, grad: DeviceArray, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> None:
    dim1, dim2 = dim1 % out.ndim, dim2 % out.ndim
    start = offset * out.steps[dim2] if offset >= 0 else -offset * out.steps[dim1]
    rest = [own for axis, own in enumerate(out.steps) if axis not in (dim1, dim2)]
    _place(out, grad, grad.shape, (*rest, out.steps[dim1] + out.steps[dim2]), start)


written("select_backward", "InplaceCopy", _select)
written("slice_backward", "InplaceCopy", _slice)
written("diagonal_backward", "InplaceCopy", _diagonal)
