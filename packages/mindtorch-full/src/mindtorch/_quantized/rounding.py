"""From numbers to integers and back as torch's loops over quantized tensors do, by vectors and by single elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch_storage.quantized import RANGES

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


def fused(factor: Any, other: Any, addend: Any) -> Any:
    """Return the product and sum of float32 numbers, which are rounded once."""
    exact = np.asarray(factor, np.float64) * np.asarray(other, np.float64) + np.asarray(addend, np.float64)
    return exact.astype(np.float32)


def dequantized(levels: Any, scale: float, zero_point: int) -> tuple[Any, Any]:
    """Return the numbers of integers as vectors and as single elements give them."""
    single = np.float32(scale)
    vectors = fused(levels, single, single * np.float32(-zero_point))
    return vectors, (levels - zero_point).astype(np.float32) * single


def rounded(vectors: Any, singles: Any, scale: float, zero_point: int, alone: Any) -> Any:
    """Return the integers of numbers; `alone` says which of them no vector takes: those are rounded with the zero point."""
    inverse = np.float32(1) / np.float32(scale)
    with np.errstate(all="ignore"):
        by_vectors = np.rint(vectors * inverse) + zero_point
        return np.where(alone, np.rint(singles * inverse + np.float32(zero_point)), by_vectors)


def scaled(whole: Any, multiplier: Any, zero_point: int) -> Any:
    """Return whole numbers times a float32 factor, rounded, and then shifted."""
    with np.errstate(all="ignore"):
        return np.rint(whole.astype(np.float32) * multiplier) + zero_point


def left_over(tensor: Any) -> Any:
    """Return where in a tensor single elements are computed: behind the last whole pair of vectors of a thread's part."""
    count = tensor.numel()
    pair = 64
    parts = max(1, min(torch.get_num_threads(), -(-count // _GRAIN)))
    length = -(-count // parts) if count else 0
    place = np.arange(count)
    within = place % max(length, 1)
    whole = np.minimum(length, count - (place - within)) // pair * pair
    alone = within >= whole
    if tensor.dim() == 4 and not tensor.is_contiguous() and tensor.is_contiguous(memory_format=torch.channels_last):
        batch, channels, height, width = tensor.shape
        return alone.reshape(batch, height, width, channels).transpose(0, 3, 1, 2)
    return alone.reshape(tuple(tensor.shape))


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
