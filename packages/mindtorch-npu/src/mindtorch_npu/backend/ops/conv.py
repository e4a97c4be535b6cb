"""Convolutions, and windows as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

_BACKWARD = Operator("ConvolutionBackward")


def _backward(
    outs: Any,
    grad: DeviceArray,
    x: DeviceArray,
    weight: DeviceArray,
    bias_sizes: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: object,
    groups: int,
    mask: Any,
) -> None:
    if not grad.size:  # of no sample, or of an empty result: nothing flows back
        for out in outs:
            if out is not None and out.size:
                launch("aclnnInplaceZero", [out])
        return
    wanted = [bool(flag) and out is not None for flag, out in zip(mask, outs, strict=True)]
    channels = [weight.shape[1] * groups if transposed else weight.shape[0]]
    sizes = list(bias_sizes) if bias_sizes is not None else channels
    given = (grad, x, weight, sizes, stride, padding, dilation, transposed, output_padding, groups, wanted)
    _BACKWARD(outs, given)


aclnn("convolution", "Convolution")
written("convolution_backward", "ConvolutionBackward", _backward)
aclnn("im2col", "Im2col")
aclnn("col2im", "Im2colBackward")
