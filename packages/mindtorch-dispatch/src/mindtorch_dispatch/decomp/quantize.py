"""Fake quantization: scaled, rounded half to even, clamped, and scaled back."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import float32

from ..call import aten
from ..meta.checks import check
from ..meta.support import require_floating
from ..typing import Tensor
from .quantized import exact_parameters


def _rounded(self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> tuple[Any, Any]:
    require_floating(self, "fake_quantize_tensor_cachemask_kernel_type_handling")
    wide = self if self.dtype.itemsize > 2 else aten._to_copy(self, dtype=float32)
    level = aten.add(
        aten.round(aten.mul(wide, 1.0 / scale if isinstance(scale, float) else aten.reciprocal(scale))), zero_point
    )
    mask = aten.logical_and(aten.ge(level, quant_min), aten.le(level, quant_max))
    kept = aten.clamp(aten.nan_to_num(level, float(quant_min)), quant_min, quant_max)
    result = aten.mul(aten.sub(kept, zero_point), scale)
    return aten._to_copy(result, dtype=self.dtype), mask


def _check_range(quant_min: int, quant_max: int) -> None:
    check(quant_min <= quant_max, lambda: "`quant_min` should be less than or         equal to `quant_max`.")


def per_tensor(self: Any, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Any:
    """One scale and zero point for all elements."""
    return aten.fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)[0]


def per_tensor_mask(self: Any, scale: float, zero_point: int, quant_min: int, quant_max: int) -> tuple[Any, Any]:
    """The result, and where it was not clamped."""
    _check_range(quant_min, quant_max)
    check(
        quant_min <= zero_point <= quant_max,
        lambda: "`zero_point` must be between `quant_min` and `quant_max`.",
    )
    return _rounded(self, scale, zero_point, quant_min, quant_max)


def per_tensor_qparams(self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    """One scale and zero point, in tensors."""
    enabled = aten.ones([1], dtype=None)
    return aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
        self, scale, zero_point, enabled, quant_min, quant_max
    )[0]


def per_tensor_qparams_mask(
    self: Any, scale: Any, zero_point: Any, fake_quant_enabled: Any, quant_min: int, quant_max: int
) -> tuple[Any, Any]:
    """The result, and where it was not clamped."""
    _check_range(quant_min, quant_max)
    return _rounded(self, aten.reshape(scale, []), aten.reshape(zero_point, []), quant_min, quant_max)


def per_channel(self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int) -> Any:
    """A scale and zero point for every index of one dimension."""
    return aten.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)[0]


def per_channel_mask(
    self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> tuple[Any, Any]:
    """The result, and where it was not clamped."""
    check(scale.dim() == 1, lambda: "scale should be a 1-D tensor")
    check(zero_point.dim() == 1, lambda: "zero point should be a 1-D tensor")
    check(scale.shape[0] == zero_point.shape[0], lambda: "scale and zero-point need to have the same dimensions")
    check(
        scale.shape[0] == self.shape[axis],
        lambda: "dimensions of scale and zero-point are not consistent with input tensor",
    )
    _check_range(quant_min, quant_max)
    shape = [1] * self.dim()
    shape[axis] = -1
    return _rounded(self, aten.reshape(scale, shape), aten.reshape(zero_point, shape), quant_min, quant_max)


def _observe(x: Tensor, low: Tensor, high: Tensor, share: float, axis: int, per_channel: bool) -> None:
    """Take the range of `x`, of all or of each channel, into moving averages."""
    if per_channel:
        order = list(range(x.dim()))
        order[0], order[axis] = axis, 0
        rows = aten.flatten(aten.permute(x, order), 1)
        found = aten.aminmax(rows, dim=1)
        for kept in (low, high):
            if tuple(kept.shape) != (x.shape[axis],):
                aten.fill_(kept.resize_([x.shape[axis]]), float("inf") if kept is low else float("-inf"))
    else:
        found = aten.aminmax(x)
    for kept, value in zip((low, high), found, strict=True):
        moved = aten.add(kept, aten.mul(aten.sub(value, kept), share))
        aten.copy_(kept, aten.where(aten.isinf(kept), aten.reshape(value, list(kept.shape)), moved))


def _symmetric(low: float, high: float, least: int, most: int) -> tuple[float, int]:
    """Return the scale and zero point of a range that reaches as far on both sides of 0."""
    if not low < 0 < high:
        return exact_parameters(low, high, least, most)
    bottom, top = -((most - least) // 2 + 1), (most - least) // 2
    step = max(abs(low / bottom), abs(high / top))
    scale, _ = exact_parameters(step * bottom, step * top, least, most)
    return scale, round((least + most) / 2)


def moving_average_observed(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Any:
    """The range taken into moving averages, from which scale and zero point follow; then rounded by these."""
    check(
        ch_axis < self.dim(),
        lambda: "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()",
    )
    if observer_on.item():
        _observe(aten.detach(self), running_min, running_max, averaging_const, ch_axis, per_row_fake_quant)
        choose = _symmetric if symmetric_quant else exact_parameters
        ranges = zip(_values(running_min), _values(running_max), strict=True)
        found = [choose(low, high, quant_min, quant_max) for low, high in ranges]
        for kept, values in zip((scale, zero_point), zip(*found, strict=True), strict=True):
            if per_row_fake_quant and tuple(kept.shape) != (len(found),):
                kept.resize_([len(found)])
            flat = aten.reshape(kept, [-1])
            for place, value in enumerate(values):
                aten.fill_(aten.select(flat, 0, place), value)
    if not fake_quant_on.item():
        return aten.clone(self)
    if per_row_fake_quant:
        return aten.fake_quantize_per_channel_affine(self, scale, zero_point, ch_axis, quant_min, quant_max)
    return aten.fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, quant_min, quant_max)


def _values(tensor: Tensor) -> list[float]:
    found: list[float] = aten.reshape(tensor, [-1]).tolist()
    return found
