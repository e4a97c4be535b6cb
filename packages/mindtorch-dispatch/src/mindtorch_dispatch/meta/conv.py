"""Meta rules of convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import bfloat16, float16, float32
from mindtorch_storage.spec import Spec

from .checks import check, shape_text
from .matmul import NO_PRODUCTS
from .memory_format import suggested
from .rule import Outputs, meta_rule
from .support import refuse
from .window import covered, reach, window_count

_AXES = ("depth", "height", "width")


def expanded(values: Any, name: str, dims: int) -> list[int]:
    """Return one value per spatial dimension; torch's error for a list of another length."""
    values = list(values)
    if len(values) == 1:
        return list(values) * dims
    check(
        len(values) == dims,
        lambda: (
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {name}={shape_text(values)}"
        ),
    )
    return list(values)


def _check_parameters(padding: list[int], output_padding: list[int], stride: list[int], dilation: list[int]) -> None:
    check(min(padding) >= 0, lambda: "negative padding is not supported")
    check(min(output_padding) >= 0, lambda: "negative output_padding is not supported")
    check(min(stride) > 0, lambda: "non-positive stride is not supported")
    check(min(dilation) >= 0, lambda: "dilation should be greater than zero")
    check(min(dilation) > 0, lambda: "non-positive dilation is not supported")
    for place, size in enumerate(padding):
        check(
            size <= _MOST_PADDING,
            lambda place=place, size=size: (
                f"Given padding={size} at dimension {place} , expected padding to be at most {_MOST_PADDING}"
            ),
        )


def _check_weight(input: Spec, weight: Spec, groups: int) -> None:
    sizes = shape_text(weight.shape)
    check(
        input.ndim == weight.ndim,
        lambda: (
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {sizes}, but got "
            f"{input.ndim}-dimensional input of size {shape_text(input.shape)} instead"
        ),
    )
    check(
        weight.shape[0] >= groups,
        lambda: (
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{sizes} instead"
        ),
    )
    check(
        weight.shape[0] % groups == 0,
        lambda: (
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{sizes}] instead"
        ),
    )


def _check_channels(input: Spec, weight: Spec, bias: Spec | None, channels: int, features: int, given: str) -> None:
    check(
        input.shape[1] == channels,
        lambda: (
            f"Given {given}, weight of size {shape_text(weight.shape)}, expected input{shape_text(input.shape)} to "
            f"have {channels} channels, but got {input.shape[1]} channels instead"
        ),
    )
    prefix = f"Given {given}, " if given.startswith("transposed") else "Given "
    if bias is not None and not (bias.ndim == 1 and bias.shape[0] == features):
        raise RuntimeError(
            f"{prefix}weight of size {shape_text(weight.shape)}, expected bias to be 1-dimensional with {features} "
            f"elements, but got bias of size {shape_text(bias.shape)} instead"
        )


def _forward_size(
    input: Spec, weight: Spec, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[int]:
    padded = [extent + 2 * pad for extent, pad in zip(input.shape[2:], padding, strict=True)]
    kernel = [reach(extent, gap) for extent, gap in zip(weight.shape[2:], dilation, strict=True)]
    check(
        all(size >= extent for size, extent in zip(padded, kernel, strict=True)),
        lambda: (
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
        ),
    )
    return [window_count(*sizes) for sizes in zip(padded, kernel, stride, strict=True)]


def _transposed_size(
    input: Spec, weight: Spec, stride: list[int], padding: list[int], dilation: list[int], output_padding: list[int]
) -> list[int]:
    dims = len(stride)
    lead, axes = ([0], _AXES[1:]) if dims == 1 else ([], _AXES[3 - dims :])

    def listed(name: str, values: list[int], fill: int) -> str:
        values = [fill, *values] if lead else values
        return " ".join(f"{name}_{axis}: {value}" for axis, value in zip(axes, values, strict=True))

    check(
        all(extra < step or extra < gap for extra, step, gap in zip(output_padding, stride, dilation, strict=True)),
        lambda: (
            "output padding must be smaller than either stride or dilation, but got "
            f"{listed('output_padding', output_padding, 0)} {listed('stride', stride, 1)} {listed('dilation', dilation, 1)}"
        ),
    )
    least = map(covered, input.shape[2:], weight.shape[2:], stride, padding, dilation)
    size = [extent + extra for extent, extra in zip(least, output_padding, strict=True)]
    check(
        min(size) >= 1,
        lambda: (
            f"Given input size per channel: ({' x '.join(map(str, input.shape[2:]))}). Calculated output size per "
            f"channel: ({' x '.join(map(str, size))}). Output size is too small"
        ),
    )
    return size


def _in_rows(input: Spec, weight: Spec, groups: int) -> bool:
    """Return whether torch convolves these volumes without oneDNN, which alone gives results in channels-last."""
    if weight.ndim != 5 or input.dtype in (bfloat16, float16):
        return False
    small = math.prod(input.shape[:4]) <= 20480 and min(weight.shape[-2:]) <= 3
    return input.dtype is not float32 or (groups == 1 and input.shape[0] == 1 and small)


def in_format(shape: Sequence[int], *operands: Spec) -> Spec:
    """Return the spec of a result of `shape`: channels-last when one of the operands is."""
    for operand in operands:
        spec = suggested(operand, shape, operands[0].dtype)
        if not spec.is_contiguous:
            return spec
    return suggested(operands[0], shape)


_MOST_PADDING = 2**62 - 1


def _check_elements(input: Spec) -> None:
    """Refuse an input without elements that has a batch and channels; a meta tensor has none to miss."""
    shape = input.shape if input.ndim != 3 else (*input.shape[:2], 1, input.shape[2])  # torch gives lines a height
    check(
        bool(input.numel) or 0 in input.shape[:2] or input.device.type == "meta",
        lambda: f"Only zero batch or zero channel inputs are supported, but got input shape: {shape_text(shape)}",
    )


def _used(steps: list[int], counts: Sequence[int], extents: Sequence[int]) -> list[int]:
    """Return `steps`, those that nothing takes, as there is one position only, within `extents`: kernels multiply with them.

    They do not become less, so that a window of one element which leaves out the rest is not taken for all there is.
    """
    limits = zip(steps, counts, extents, strict=True)
    return [step if count > 1 else max(1, min(step, extent)) for step, count, extent in limits]


def _check_window(input: Spec, weight: Spec, dilation: list[int], transposed: bool) -> None:
    """Refuse a window without extent as the kernel behind the call does; meta tensors and empty batches reach none."""
    window = list(weight.shape[2:])
    if 0 not in window or input.device.type == "meta" or not input.numel:
        return
    if transposed and len(window) == 3:
        raise RuntimeError(
            "non-empty 5D (n_output_plane x n_input_plane x kernel_depth x kernel_height x kernel_width) tensor expected "
            f"for weight, but got: {shape_text(weight.shape)}"
        )
    window = [1, *window] if len(window) == 1 else window
    if not transposed and max(dilation) > 1:
        found = f" {shape_text(window)}"
    elif len(window) == 3:
        found = f": {' x '.join(map(str, window))} (TxHxW)"
    else:
        found = f" kernel_height: {window[0]} kernel_width: {window[1]}"
    raise RuntimeError(f"kernel size should be greater than zero, but got{found}")


@meta_rule(out=True)
def convolution(
    input: Spec,
    weight: Spec,
    bias: Spec | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Outputs:
    """`convolution`, plain or transposed, in any number of spatial dimensions."""
    dims = weight.ndim - 2
    check(dims > 0, lambda: "weight should have at least three dimensions")
    check(groups > 0, lambda: "non-positive groups is not supported")
    stride, padding = expanded(stride, "stride", dims), expanded(padding, "padding", dims)
    dilation, output_padding = expanded(dilation, "dilation", dims), expanded(output_padding, "output_padding", dims)
    _check_parameters(padding, output_padding, stride, dilation)
    _check_weight(input, weight, groups)
    if transposed:
        _check_channels(input, weight, bias, weight.shape[0], weight.shape[1] * groups, "transposed=1")
        _check_elements(input)
        size = _transposed_size(input, weight, stride, padding, dilation, output_padding)
        shape = (input.shape[0], weight.shape[1] * groups, *size)
    else:
        _check_channels(input, weight, bias, weight.shape[1] * groups, weight.shape[0], f"groups={groups}")
        size = _forward_size(input, weight, stride, padding, dilation)
        _check_elements(input)
        # torch answers an input without channels with a result without any.
        shape = (input.shape[0], weight.shape[0] if input.shape[1] or not input.shape[0] else 0, *size)
    check(
        input.dtype is weight.dtype,
        lambda: (
            f"Input type ({input.dtype.type_name}) and weight type ({weight.dtype.type_name}) should be the same or "
            "input should be a MKLDNN tensor and weight is a dense tensor"
        ),
    )
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(
            f"Input type ({input.dtype.type_name}) and bias type ({bias.dtype.type_name}) should be the same"
        )
    refuse(input, "compute_columns3d" if input.ndim == 5 else "slow_conv2d_cpu", NO_PRODUCTS)
    _check_window(input, weight, dilation, transposed)
    small, large = (input.shape, shape) if transposed else (shape, input.shape)
    stride, dilation = _used(stride, small[2:], large[2:]), _used(dilation, weight.shape[2:], large[2:])
    values = (input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    return Outputs(_result(shape, input, weight, groups), values=values)


def _result(shape: Sequence[int], input: Spec, weight: Spec, groups: int) -> Spec:
    """Return the spec of a result or a gradient: all of them lie as input or weight do."""
    if _in_rows(input, weight, groups):
        return Spec.of(input.dtype, input.device, tuple(shape))
    return in_format(shape, input, weight)


def _gradient(operand: Spec, input: Spec, weight: Spec, groups: int) -> Spec:
    """Return the spec of the gradient of an operand. Those of complex numbers are put together in order."""
    if operand.dtype.is_complex:
        return Spec.of(operand.dtype, operand.device, tuple(operand.shape))
    spec = _result(operand.shape, input, weight, groups)
    # Without oneDNN a weight that lies in both formats keeps its strides.
    alone = operand is weight and weight.ndim == 4 and spec.is_contiguous
    return suggested(weight) if alone and weight.dtype not in (float32, bfloat16, float16) else spec


@meta_rule()
def convolution_backward(
    grad_output: Spec,
    input: Spec,
    weight: Spec,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Any,
) -> Outputs:
    """`convolution_backward`: gradients of input, weight and bias."""
    dims = weight.ndim - 2
    features = bias_sizes[0] if bias_sizes else grad_output.shape[1]
    specs = (
        _gradient(input, input, weight, groups) if output_mask[0] else None,
        _gradient(weight, input, weight, groups) if output_mask[1] else None,
        Spec.of(grad_output.dtype, grad_output.device, (features,)) if output_mask[2] else None,
    )
    small, large = (input, grad_output) if transposed else (grad_output, input)
    steps = _used(expanded(stride, "stride", dims), small.shape[2:], large.shape[2:])
    gaps = _used(expanded(dilation, "dilation", dims), weight.shape[2:], large.shape[2:])
    values = (
        grad_output, input, weight, bias_sizes, steps, expanded(padding, "padding", dims), gaps, transposed,
        output_padding, groups, output_mask,
    )  # fmt: skip
    return Outputs(specs, values=values)


@meta_rule(out=True)
def conv_tbc(self: Spec, weight: Spec, bias: Spec, pad: int = 0) -> Spec:
    """`conv_tbc`: time, batch, channels."""
    check(self.ndim == 3, lambda: "Input must have 3 dims: time, batch, in_channel")
    check(weight.ndim == 3, lambda: "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    check(bias.ndim == 1, lambda: "Bias must be 1-D")
    check(
        self.shape[2] == weight.shape[1],
        lambda: "Input dim 2 (input channels) is not == dim 1 in the weight tensor",
    )
    check(
        weight.shape[2] == bias.shape[0], lambda: "Bias size must equal dim 2 in the weight tensor (output channels)."
    )
    length = window_count(self.shape[0], weight.shape[0], 1, pad)
    return Spec.of(self.dtype, self.device, (length, self.shape[1], weight.shape[2]))
