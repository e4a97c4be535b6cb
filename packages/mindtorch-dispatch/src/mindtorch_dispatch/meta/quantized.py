"""Meta rules of layers with quantized weights."""

from __future__ import annotations

from mindtorch_storage.dtype import float32
from mindtorch_storage.spec import Spec

from .checks import check
from .rule import meta_rule

PANEL, WORD = 16, 4
"""A packed weight is (panels, words, columns of a panel, elements of a word); so many are the last two."""


@meta_rule()
def linear_dynamic(
    input: Spec, weight: Spec, sums: Spec, bias: Spec | None, out_features: int, scale: float, zero_point: int
) -> Spec:
    """`quantized::_linear_dynamic`: rows of numbers by a packed weight of eight bits, and the sums of its columns."""
    check(input.ndim >= 2, lambda: "The dimension of input tensor should be larger than or equal to 2")
    words = (input.shape[-1] + WORD - 1) // WORD
    check(
        tuple(weight.shape) == ((out_features + PANEL - 1) // PANEL, words, PANEL, WORD),
        lambda: f"The number of rows in the packB should be equal to K: {input.shape[-1]}",
    )
    check(input.dtype is float32, lambda: f"expected scalar type Float but found {input.dtype.scalar_name}")
    return Spec.of(float32, input.device, (*input.shape[:-1], out_features))
