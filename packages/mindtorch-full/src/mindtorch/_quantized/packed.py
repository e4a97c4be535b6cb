"""What a layer with a quantized weight keeps: weight and bias, and of a convolution how it goes over its input."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.cpu import _is_vnni_supported


def engine() -> str:
    """The engine whose numbers are computed; RuntimeError with torch's text where none was chosen."""
    return str(torch.backends.quantized.engine)


def symmetric(weight: Any) -> bool:
    """True where all zero points are 0."""
    if weight.qscheme() == torch.per_tensor_affine:
        return bool(weight.q_zero_point() == 0)
    return bool((weight.q_per_channel_zero_points() == 0).all())


class LinearPackedParams:
    """Weight and bias of a linear layer, whose products fbgemm or oneDNN would compute."""

    def __init__(self, weight: Any, bias: Any, by: str) -> None:
        self.weight, self.bias, self.by = weight, bias, by

    def unpack(self) -> tuple[Any, Any]:
        """Return weight and bias."""
        return self.weight, self.bias


class ConvPackedParams:
    """Weight and bias of a convolution, and its steps."""

    def __init__(self, weight: Any, bias: Any, steps: tuple[Any, ...], transposed: bool, by: str) -> None:
        self.weight, self.bias, self.by, self.transposed = weight, bias, by, transposed
        self.stride, self.padding, self.output_padding, self.dilation, self.groups = steps

    def unpack(self) -> tuple[Any, Any]:
        """Return weight and bias."""
        return self.weight, self.bias


def _check_weight(name: str, weight: Any, by: str) -> None:
    if by != "onednn" or symmetric(weight):
        return
    text = f"quantized::{name}: ONEDNN only supports symmetric quantization of weight, whose zero point must be 0"
    if name == "linear_prepack":
        if weight.qscheme() == torch.per_tensor_affine:
            raise RuntimeError(f"{text}, but got {weight.q_zero_point()}")
        points = weight.q_per_channel_zero_points()
        place = int((points != 0).nonzero()[0])
        raise RuntimeError(f"{text}, but got {int(points[place])}, at index {place}")
    raise RuntimeError(f"{text}.")


def linear_prepack(weight: Any, bias: Any = None) -> LinearPackedParams:
    """Keep a weight of integers with the bias of a linear layer."""
    by = "onednn" if engine() == "onednn" else "fbgemm"
    torch._check(
        weight.dim() == 2,
        lambda: (
            "ONEDNN only packs quantized weights with 2 dims, got "
            if by == "onednn"
            else "The weight tensor for quantized::linear_prepack (fbgemm) should be 2-dimensional."
        ),
    )
    _check_weight("linear_prepack", weight, by)
    return LinearPackedParams(weight, bias, by)


def linear_prepack_fp16(weight: Any, bias: Any = None) -> LinearPackedParams:
    """Keep a weight of numbers, as float16 holds them."""
    limit = torch.finfo(torch.float16).max
    halves = weight.detach().float().clamp(-limit, limit).to(torch.float16)
    return LinearPackedParams(halves.float(), bias, "fp16")


def conv_prepack(weight: Any, bias: Any, steps: tuple[Any, ...], transposed: bool = False) -> ConvPackedParams:
    """Keep a weight of integers with the bias and the steps of a convolution.

    The engine x86 has oneDNN's numbers where the processor multiplies integers of 8 bits, and fbgemm's elsewhere.
    """
    chosen = engine()
    padded = any(steps[2])
    suits = _is_vnni_supported() and steps[4] <= 100 and symmetric(weight) and not padded
    by = "onednn" if chosen == "onednn" or (chosen == "x86" and suits) else "fbgemm"
    _check_weight("qconv_prepack", weight, by)
    torch._check(
        by != "onednn" or not padded, lambda: "quantized::conv_prepack: ONEDNN only supports zero output_padding."
    )
    return ConvPackedParams(weight, bias, steps, transposed, by)
