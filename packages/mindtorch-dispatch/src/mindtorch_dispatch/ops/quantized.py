"""Quantized tensors: integers with a scale and a zero point."""

from ..decomp import quantized as composed
from ..meta import quantized as rules
from ..quantized import channels as channels  # registered with the rows
from ..quantized import kernels as kernels
from ..quantized import pools as pools
from ..quantized import rounding
from ..quantized import views as views
from ..table import op

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

op(
    "quantize_per_tensor(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
    composite=composed.quantize_per_tensor,
    variants="function",
)
op(
    "quantize_per_tensor.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, ScalarType dtype) -> Tensor",
    composite=composed.quantize_by_tensors,
    variants="function",
)
op(
    "quantize_per_tensor.tensors(Tensor[] tensors, Tensor scales, Tensor zero_points, ScalarType dtype) -> Tensor[]",
    composite=composed.quantize_each,
    variants="function",
)
op(
    "quantize_per_tensor_dynamic(Tensor self, ScalarType dtype, bool reduce_range) -> Tensor",
    composite=composed.quantize_dynamic,
    variants="function",
)
op(
    "quantize_per_channel(Tensor self, Tensor scales, Tensor zero_points, int axis, ScalarType dtype) -> Tensor",
    composite=composed.quantize_per_channel,
    variants="function",
)
op(
    "_choose_qparams_per_tensor(Tensor self, bool reduce_range=False) -> (float, int)",
    composite=composed.choose_qparams,
    variants="function",
)
op("dequantize.self(Tensor self) -> Tensor", composite=composed.dequantize)
op("dequantize.tensors(Tensor[] tensors) -> Tensor[]", composite=composed.dequantize_each, variants="function")
op("int_repr(Tensor self) -> Tensor", composite=composed.refused("int_repr"))
op("q_scale(Tensor self) -> float", composite=composed.refused("q_scale"))
op("q_zero_point(Tensor self) -> int", composite=composed.refused("q_zero_point"))
op("q_per_channel_scales(Tensor self) -> Tensor", composite=composed.refused("q_per_channel_scales"))
op("q_per_channel_zero_points(Tensor self) -> Tensor", composite=composed.refused("q_per_channel_zero_points"))
op("q_per_channel_axis(Tensor self) -> int", composite=composed.refused("q_per_channel_axis"))
op("qscheme(Tensor self) -> QScheme", composite=composed.refused("qscheme"), variants="method")
op(
    "_make_per_tensor_quantized_tensor(Tensor self, float scale, int zero_point) -> Tensor",
    composite=composed.make_per_tensor,
    variants="function",
)
op(
    "_make_per_channel_quantized_tensor(Tensor self, Tensor scale, Tensor zero_point, int axis) -> Tensor",
    composite=composed.make_per_channel,
    variants="function",
)
op(
    f"_empty_affine_quantized(SymInt[] size, *, {_OPTIONS}, float scale=1, int zero_point=0, "
    "MemoryFormat? memory_format=contiguous_format) -> Tensor",
    composite=composed.empty_affine,
    variants="function",
)
op(
    "_empty_per_channel_affine_quantized(SymInt[] size, *, Tensor scales, Tensor zero_points, int axis, "
    f"{_OPTIONS}, MemoryFormat? memory_format=contiguous_format) -> Tensor",
    composite=composed.empty_per_channel,
    variants="function",
)
op(
    f"empty_quantized(int[] size, Tensor qtensor, *, {_OPTIONS}, MemoryFormat? memory_format=None) -> Tensor",
    composite=composed.empty_affine,
    variants="function",
)
for _rank in (1, 2, 3):
    op(
        f"quantized_max_pool{_rank}d(Tensor self, int[{_rank}] kernel_size, int[{_rank}] stride=[], "
        f"int[{_rank}] padding=0, int[{_rank}] dilation=1, bool ceil_mode=False) -> Tensor",
        composite=composed.refused(f"quantized_max_pool{_rank}d"),
        variants="function",
    )
_PAIR = "float self_scale, int self_zero_point, float other_scale, int other_zero_point"
for _schema, _rule, _composite in (
    ("_levels(Tensor self, float scale, int zero_point, ScalarType dtype)", rules.levels, rounding.composed_levels),
    ("_numbers(Tensor self, float scale, int zero_point)", rules.numbers, rounding.composed_numbers),
    ("_clamp(Tensor self, int least, int most)", rules.alike, None),
    (f"_add(Tensor self, Tensor other, {_PAIR}, float scale, int zero_point, bool relu, int part)", rules.alike, None),
    (
        "_mul(Tensor self, Tensor other, float factor, int self_zero_point, int other_zero_point, int zero_point, "
        "bool relu)",
        rules.alike,
        None,
    ),
    (
        "_linear_sums(Tensor input, Tensor weight, Tensor sums, int out_features, int zero_point, int weight_zero_point)",
        rules.linear_sums,
        None,
    ),
    (
        "_requantize(Tensor sums, Tensor scales, Tensor? bias, float input_scale, float scale, int zero_point, "
        "bool scaled_bias, bool relu, ScalarType dtype)",
        rules.requantize,
        None,
    ),
):
    op(f"quantized::{_schema} -> Tensor", _rule, composite=_composite, inplace=False, out=False, variants="")
op(
    "quantized::_linear_dynamic(Tensor input, Tensor weight, Tensor sums, Tensor? bias, int out_features, float scale, "
    "int zero_point) -> Tensor",
    rules.linear_dynamic,
    composite=composed.linear_dynamic,
    inplace=False,
    out=False,
    variants="",
)
