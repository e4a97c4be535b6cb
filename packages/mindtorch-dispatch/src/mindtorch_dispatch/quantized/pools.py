"""Pooling of quantized tensors: the largest integers of windows, and means that are rounded once."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import float32
from mindtorch_storage.quantized import RANGES

from ..call import aten
from .table import kernel
from .tensors import integers, like, per_tensor


def _largest(name: str, rank: int) -> Any:
    def computed(
        self: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False
    ) -> Any:
        per_tensor(self)
        wide = aten._to_copy(integers(self), dtype=float32)
        found = getattr(aten, name)(wide, kernel_size, stride, padding, dilation, ceil)
        return like(self, aten._to_copy(found, dtype=integers(self).dtype))

    return computed


for _rank in (1, 2, 3):
    kernel(f"max_pool{_rank}d", f"quantized_max_pool{_rank}d")(_largest(f"max_pool{_rank}d", _rank))


def _averaged(name: str) -> Any:
    def computed(self: Any, *rest: Any) -> Any:
        given = per_tensor(self)
        shifted = aten.sub(aten._to_copy(integers(self), dtype=float32), float(given.zero_point))
        mean = getattr(aten, name)(shifted, *rest)
        level = aten.clamp(aten.add(aten.round(mean), float(given.zero_point)), *RANGES[self.dtype])
        return like(self, aten._to_copy(level, dtype=integers(self).dtype))

    return computed


for _name in (
    "avg_pool2d",
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
):
    kernel(_name)(_averaged(_name.lstrip("_")))
