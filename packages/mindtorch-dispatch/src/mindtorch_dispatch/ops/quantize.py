"""Rounding to the values that a quantized tensor could hold, while staying in floating point."""

from ..decomp import quantize as composed
from ..table import op

_TENSOR = "Tensor self, float scale, int zero_point, int quant_min, int quant_max"
_QPARAMS = "Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max"
_CHANNEL = "Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max"

op(
    f"fake_quantize_per_tensor_affine({_TENSOR}) -> Tensor",
    composite=composed.per_tensor,
    variants="function",
)
op(
    f"fake_quantize_per_tensor_affine.tensor_qparams({_QPARAMS}) -> Tensor",
    composite=composed.per_tensor_qparams,
    variants="function",
)
op(
    f"fake_quantize_per_tensor_affine_cachemask({_TENSOR}) -> (Tensor output, Tensor mask)",
    composite=composed.per_tensor_mask,
    variants="",
)
op(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
    "Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
    composite=composed.per_tensor_qparams_mask,
    variants="",
)
op(f"fake_quantize_per_channel_affine({_CHANNEL}) -> Tensor", composite=composed.per_channel, variants="function")
op(
    f"fake_quantize_per_channel_affine_cachemask({_CHANNEL}) -> (Tensor output, Tensor mask)",
    composite=composed.per_channel_mask,
    variants="",
)
op(
    "fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, "
    "Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, "
    "int ch_axis, bool per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor",
    composite=composed.moving_average_observed,
    variants="function",
)
