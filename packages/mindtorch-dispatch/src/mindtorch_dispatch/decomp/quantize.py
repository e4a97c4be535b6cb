"""Fake quantization: scaled, rounded half to even, clamped, and scaled back."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import float32

from ..call import aten
from ..meta.checks import check
from ..meta.random_checks import not_implemented


def _rounded(self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> tuple[Any, Any]:
    if not self.dtype.is_floating_point:
        raise not_implemented("fake_quantize_tensor_cachemask_kernel_type_handling", self.dtype)
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
