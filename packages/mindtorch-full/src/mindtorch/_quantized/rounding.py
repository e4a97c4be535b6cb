"""From numbers to integers and back as torch's loops over quantized tensors do, by vectors and by single elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch_dispatch.quantized.tensors import integers as integers_of
from mindtorch_dispatch.quantized.tensors import new
from mindtorch_storage.quantized import RANGES, Quantizer

_GRAIN = 32768  # elements that a thread takes at least


def integers(tensor: Any) -> Any:
    """The integers of a quantized tensor, wide enough to compute with."""
    return tensor.int_repr().numpy().astype(np.int64)


def tensor_of(levels: Any, scale: float, zero_point: int, dtype: Any) -> Any:
    """Return the quantized tensor over whole numbers, which are clamped to the range of the dtype."""
    least, most = RANGES[dtype]
    kind = {torch.quint8: np.uint8, torch.qint8: np.int8, torch.qint32: np.int32}[dtype]
    whole = torch.from_numpy(np.ascontiguousarray(np.clip(levels, least, most).astype(kind)))
    return torch._make_per_tensor_quantized_tensor(whole, float(scale), int(zero_point))


def made_of(whole: Any, scale: float, zero_point: int, dtype: Any) -> Any:
    """Return the quantized tensor over integers that were made for it."""
    return new(whole, dtype, Quantizer(float(scale), int(zero_point)))


def fused(factor: Any, other: Any, addend: Any) -> Any:
    """Return the product and sum of float32 numbers, which are rounded once."""
    exact = np.asarray(factor, np.float64) * np.asarray(other, np.float64) + np.asarray(addend, np.float64)
    return exact.astype(np.float32)


def scaled(whole: Any, multiplier: Any, zero_point: int) -> Any:
    """Return whole numbers times a float32 factor, rounded, and then shifted."""
    with np.errstate(all="ignore"):
        return np.rint(whole.astype(np.float32) * multiplier) + zero_point


def alike(one: Any, other: Any) -> tuple[Any, Any, int]:
    """Return the integers of two tensors, broadcast and in one order in memory, and how many a thread adds at a time.

    That is 1 where torch goes from element to element, as the tensors lie in different orders.
    """
    first, second = integers_of(one), integers_of(other)
    if first._sig.spec is second._sig.spec and (first.is_contiguous() or _is_channels_last(first)):
        count = first.numel()
        parts = max(1, min(torch.get_num_threads(), -(-count // _GRAIN)))
        return first, second, -(-count // parts)
    both = torch.broadcast_tensors(first, second)
    leading = integers_of(one if one.dim() >= other.dim() else other)
    chosen = torch.channels_last if _is_channels_last(leading) else torch.contiguous_format
    first, second = (whole.contiguous(memory_format=chosen) for whole in both)
    return first, second, _run(both)


def _run(both: Any) -> int:
    """Return how many elements of tensors of one shape follow each other in memory, each of them or the same in one."""
    shape, strides = both[0].shape, [whole.stride() for whole in both]
    if not shape or any(one[-1] not in (0, 1) and shape[-1] > 1 for one in strides):
        return 1
    count, dim = shape[-1], len(shape) - 2
    while dim >= 0 and all(one[dim] == one[dim + 1] * shape[dim + 1] for one in strides):
        count *= shape[dim]
        dim -= 1
    return max(count, 1)


def _is_channels_last(tensor: Any) -> bool:
    return tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last)


def channels_last(made: Any) -> Any:
    """Return a quantized tensor with its channels last in memory."""
    rank = made.dim()
    if rank == 3:
        return made.transpose(1, 2).contiguous().transpose(1, 2)
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(rank)
    return made if last is None else made.contiguous(memory_format=last)


def laid_out_as(made: Any, tensor: Any) -> Any:
    """Return a quantized tensor in the memory format of another one."""
    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    if last is None or tensor.is_contiguous() or not tensor.is_contiguous(memory_format=last):
        return made
    return channels_last(made)
