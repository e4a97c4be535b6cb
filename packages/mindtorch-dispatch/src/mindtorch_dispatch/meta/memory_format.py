"""Which memory format a result takes from its input."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import channels_last, channels_last_3d, contiguous_format
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import (
    channels_last_3d_strides,
    channels_last_strides,
    is_channels_last_3d_contiguous,
    is_channels_last_contiguous,
    suggests_channels_last,
    suggests_channels_last_3d,
)


def suggested(self: Spec, shape: Sequence[int] | None = None, dtype: Dtype | None = None) -> Spec:
    """Return the spec of a fresh tensor of `shape` (default: the same) in the format that the strides suggest.

    That is channels-last where they are in that order, else contiguous.
    """
    shape = tuple(self.shape if shape is None else shape)
    strides = _STRIDES.get(suggested_format(self)) if len(shape) == self.ndim else None
    return Spec.of(dtype or self.dtype, self.device, shape, None if strides is None else strides(shape))


def suggested_format(self: Spec) -> MemoryFormat:
    """Return the format that the strides suggest: channels-last where they are in that order, else contiguous."""
    if self.ndim == 4 and suggests_channels_last(self.shape, self.stride):
        return channels_last
    if self.ndim == 5 and suggests_channels_last_3d(self.shape, self.stride):
        return channels_last_3d
    return contiguous_format


_STRIDES = {channels_last: channels_last_strides, channels_last_3d: channels_last_3d_strides}


def lies_in(self: Spec, memory_format: MemoryFormat) -> bool:
    """Return whether the elements lie without gaps in a memory format."""
    if memory_format is contiguous_format:
        return self.is_contiguous
    fits = is_channels_last_contiguous if memory_format is channels_last else is_channels_last_3d_contiguous
    return fits(self.shape, self.stride)


def suggested_volumes(self: Spec, shape: Sequence[int]) -> Spec:
    """As `suggested`, for volumes, which may come without a dimension of batches."""
    if self.ndim != 4:
        return suggested(self, shape)
    if self.is_contiguous or not is_channels_last_3d_contiguous((1, *self.shape), (0, *self.stride)):
        return Spec.of(self.dtype, self.device, tuple(shape))
    return Spec.of(self.dtype, self.device, tuple(shape), channels_last_3d_strides((1, *shape))[1:])
