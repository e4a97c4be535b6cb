"""Meta rules of integers that stand for numbers, and of layers with quantized weights."""

from __future__ import annotations

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32
from mindtorch_storage.quantized import INTEGERS
from mindtorch_storage.spec import Spec

from .checks import check
from .memory_format import suggested
from .rule import Outputs, meta_rule

PANEL, WORD = 16, 4
"""A packed weight is (panels, words, columns of a panel, elements of a word); so many are the last two."""


@meta_rule()
def levels(self: Spec, scale: float, zero_point: int, dtype: Dtype) -> Outputs:
    """`quantized::_levels`: the integers that stand for float32 numbers, under a quantized dtype."""
    return Outputs(suggested(self, dtype=INTEGERS[dtype]), values=(self, scale, zero_point))


@meta_rule()
def numbers(self: Spec, scale: float, zero_point: int) -> Spec:
    """`quantized::_numbers`: the numbers that integers stand for."""
    return suggested(self, dtype=float32)


@meta_rule()
def alike(self: Spec, *rest: object) -> Spec:
    """Integers of the geometry of the first, which others have, too."""
    return self


def _check_packed(input: Spec, weight: Spec, out_features: int) -> None:
    words = (input.shape[-1] + WORD - 1) // WORD
    check(
        tuple(weight.shape) == ((out_features + PANEL - 1) // PANEL, words, PANEL, WORD),
        lambda: f"The number of rows in the packB should be equal to K: {input.shape[-1]}",
    )


@meta_rule()
def linear_sums(
    input: Spec, weight: Spec, sums: Spec, out_features: int, zero_point: int, weight_zero_point: int
) -> Spec:
    """`quantized::_linear_sums`: rows of integers by a packed weight, without their zero points, as float32."""
    _check_packed(input, weight, out_features)
    return Spec.of(float32, input.device, (*input.shape[:-1], out_features))


@meta_rule()
def requantize(
    sums: Spec,
    scales: Spec,
    bias: Spec | None,
    input_scale: float,
    scale: float,
    zero_point: int,
    scaled_bias: bool,
    relu: bool,
    dtype: Dtype,
) -> Outputs:
    """`quantized::_requantize`: the integers of sums, whose columns have a scale each."""
    return Outputs(
        Spec.of(INTEGERS[dtype], sums.device, sums.shape),
        values=(sums, scales, bias, input_scale, scale, zero_point, scaled_bias, relu),
    )


@meta_rule()
def linear_dynamic(
    input: Spec, weight: Spec, sums: Spec, bias: Spec | None, out_features: int, scale: float, zero_point: int
) -> Spec:
    """`quantized::_linear_dynamic`: rows of numbers by a packed weight of eight bits, and the sums of its columns."""
    check(input.ndim >= 2, lambda: "The dimension of input tensor should be larger than or equal to 2")
    _check_packed(input, weight, out_features)
    check(input.dtype is float32, lambda: f"expected scalar type Float but found {input.dtype.scalar_name}")
    return Spec.of(float32, input.device, (*input.shape[:-1], out_features))
