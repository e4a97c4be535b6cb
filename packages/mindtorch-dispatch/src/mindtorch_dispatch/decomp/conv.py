"""Convolutions by number of spatial dimensions, and `padding="same"`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import c_type, check, shape_text
from ..meta.window import reach
from ..typing import Tensor
from ..warn_once import warn_once


def _batched(input: Tensor, dims: int, name: str) -> tuple[Any, bool]:
    """Return the input with a batch dimension, and whether it had one."""
    count = len(input.shape)
    check(
        count in (dims + 1, dims + 2),
        lambda: (
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got input of size: "
            f"{shape_text(input.shape)}"
        ),
    )
    return (input, True) if count == dims + 2 else (aten.unsqueeze(input, 0), False)


def _check_bias(input: Any, bias: Any) -> None:
    check(
        bias is None or bias.dtype is input.dtype,
        lambda: f"Input type ({c_type(input.dtype)}) and bias type ({c_type(bias.dtype)}) should be the same",
    )


def forward(dims: int) -> Callable[..., Any]:
    """Return `conv1d`, `conv2d` or `conv3d`."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
    ) -> Any:
        _check_bias(input, bias)
        batch, batched = _batched(input, dims, f"conv{dims}d")
        result = aten.convolution(batch, weight, bias, stride, padding, dilation, False, [0] * dims, groups)
        return result if batched else aten.squeeze(result, 0)

    return conv


def forward_named(dims: int) -> Callable[..., Any]:
    """Return the form whose padding is "same" or "valid"."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: str,
        dilation: Sequence[int],
        groups: int,
    ) -> Any:
        _check_bias(input, bias)
        batch, batched = _batched(input, dims, f"conv{dims}d")
        result = convolution_mode(batch, weight, bias, stride, padding, dilation, groups)
        return result if batched else aten.squeeze(result, 0)

    return conv


def transposed(dims: int) -> Callable[..., Any]:
    """Return `conv_transpose1d`, `conv_transpose2d` or `conv_transpose3d`."""

    def conv(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        stride: Sequence[int],
        padding: Sequence[int],
        output_padding: Sequence[int],
        groups: int,
        dilation: Sequence[int],
    ) -> Any:
        batch, batched = _batched(input, dims, f"conv_transpose{dims}d")
        result = aten.convolution(batch, weight, bias, stride, padding, dilation, True, output_padding, groups)
        return result if batched else aten.squeeze(result, 0)

    return conv


def convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: str,
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """`_convolution_mode`."""
    if padding == "same":
        return _same(input, weight, bias, stride, dilation, groups)
    check(padding == "valid", lambda: f"Invalid padding string: '{padding}'")
    return aten.convolution(input, weight, bias, stride, [0], dilation, False, [0], groups)


_COPIED = "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be created"


def _same(
    input: TensorBase,
    weight: TensorBase,
    bias: Tensor | None,
    stride: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """Output as large as the input: what does not divide by two is padded at the end beforehand."""
    count = len(weight.shape)
    check(count > 2, lambda: "weight should have at least three dimensions")
    check(groups > 0, lambda: "non-positive groups is not supported")
    check(
        len(input.shape) == count,
        lambda: (
            f"Expected {count}-dimensional input for {count}-dimensional weight{shape_text(weight.shape)}, but got "
            f"{len(input.shape)}-dimensional input of size {shape_text(input.shape)} instead"
        ),
    )
    dims = count - 2
    for name, values in (("stride", stride), ("dilation", dilation)):
        check(len(values) in (1, dims), lambda name=name: f"{name} cannot broadcast to {dims} dimensions")
    check(all(step == 1 for step in stride), lambda: "padding='same' is not supported for strided convolutions")
    gaps = list(dilation) * dims if len(dilation) == 1 else list(dilation)
    totals = [reach(extent, gap) - 1 for gap, extent in zip(gaps, weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):
        warn_once(_COPIED)
        extra: list[int] = []
        for total in reversed(totals):
            extra += [0, total % 2]
        input = aten.constant_pad_nd(input, extra, 0)
    return aten.convolution(input, weight, bias, stride, [total // 2 for total in totals], dilation, False, [0], groups)


def convolution_flagged(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    *flags: bool,
) -> Any:
    """`_convolution`: the flags choose among CUDA libraries."""
    return aten.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def conv_tbc_backward(self: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int) -> tuple[Any, Any, Any]:
    """Gradients of `conv_tbc`, as those of a convolution over the permuted dimensions; `self` is the gradient."""
    grads = aten.convolution_backward(
        aten.permute(self, [1, 2, 0]), aten.permute(input, [1, 2, 0]), aten.permute(weight, [2, 1, 0]), None, [1], [pad],
        [1], False, [0], 1, [True, True, True],
    )  # fmt: skip
    return aten.permute(grads[0], [2, 0, 1]), aten.permute(grads[1], [2, 1, 0]), grads[2]


def thnn_conv2d(
    self: Tensor,
    weight: Tensor,
    kernel_size: Sequence[int],
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
) -> Any:
    """A convolution of images whose kernel's extents are given beside its weights."""
    for name, pair in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding)):
        if len(pair) != 2:
            raise RuntimeError(f"2D {name} expected")
    if len(self.shape) != 4:
        raise RuntimeError(f"Expected 4D input tensor, but got: {shape_text(self.shape)}")
    if len(weight.shape) != 4:
        raise RuntimeError(f"non-empty 2D or 4D weight tensor expected, but got: {shape_text(weight.shape)}")
    columns = self.shape[1] * kernel_size[0] * kernel_size[1]
    given = weight.shape[1] * weight.shape[2] * weight.shape[3]
    if self.shape[1] != given // (kernel_size[0] * kernel_size[1]) or columns != given:
        expected = given // (kernel_size[0] * kernel_size[1])
        raise RuntimeError(
            f"Expected a tensor of dimension 4 and tensor.size[1] == {expected} but got: dimension 4 and tensor.size[1] = "
            f"{self.shape[1]}"
        )
    return aten.conv2d(self, weight, bias, list(stride), list(padding))
