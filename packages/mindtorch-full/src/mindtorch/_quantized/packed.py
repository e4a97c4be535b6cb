"""What a layer with a quantized weight keeps: weight and bias, and of a convolution how it goes over its input."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mindtorch as torch
from mindtorch.cpu import _is_vnni_supported
from mindtorch_dispatch.meta.quantized import PANEL, WORD
from mindtorch_dispatch.quantized.tensors import integers


def engine() -> str:
    """The engine whose numbers are computed; RuntimeError with torch's text where none was chosen."""
    return str(torch.backends.quantized.engine)


def symmetric(weight: Any) -> bool:
    """True where all zero points are 0."""
    if weight.qscheme() == torch.per_tensor_affine:
        return bool(weight.q_zero_point() == 0)
    return bool((weight.q_per_channel_zero_points() == 0).all())


class PackedParams:
    """Weight and bias of a layer, and what its products read of them."""

    def __init__(self, weight: Any, bias: Any, by: str) -> None:
        self.weight, self.bias, self.by = weight, bias, by

    def unpack(self) -> tuple[Any, Any]:
        """Return weight and bias."""
        return self.weight, self.bias

    @cached_property
    def scales(self) -> Any:
        """The scale of the weight, or one of each channel, as float32."""
        weight = self.weight
        if weight.qscheme() == torch.per_tensor_affine:
            return torch.tensor([weight.q_scale()])
        return weight.q_per_channel_scales().float()

    @cached_property
    def zero_point(self) -> int | None:
        """The zero point of the weight; None where channels have different ones."""
        weight = self.weight
        if weight.qscheme() == torch.per_tensor_affine:
            return int(weight.q_zero_point())
        return 0 if symmetric(weight) else None

    @cached_property
    def panels(self) -> tuple[Any, Any]:
        """The weight as the product reads it, panels of its rows in words of its columns, and the sums of its rows."""
        whole = self._rows()
        rows, depth = whole.shape
        padded = torch.nn.functional.pad(whole, [0, -depth % WORD, 0, -rows % PANEL])
        panels = padded.view(-1, PANEL, padded.shape[1] // WORD, WORD).transpose(1, 2).contiguous()
        return panels, panels.sum((1, 3), dtype=torch.int32).flatten()

    def _rows(self) -> Any:
        """The integers of the weight, a row for each channel, the weight's own channels last."""
        whole = integers(self.weight)
        return whole.movedim(1, -1).flatten(1)


class LinearPackedParams(PackedParams):
    """Weight and bias of a linear layer, whose products fbgemm or oneDNN would compute."""


class ConvPackedParams(PackedParams):
    """Weight and bias of a convolution, and its steps."""

    def __init__(self, weight: Any, bias: Any, steps: tuple[Any, ...], transposed: bool, by: str) -> None:
        super().__init__(weight, bias, by)
        self.transposed = transposed
        self.stride, self.padding, self.output_padding, self.dilation, self.groups = steps


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
