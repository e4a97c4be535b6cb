"""Convolution layers and their transposes; public through ``nn.modules.conv``."""

import math
from collections.abc import Sequence
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.utils import _pair, _reverse_repeat_tuple, _single, _triple
from mindtorch.nn.parameter import Parameter
from mindtorch_dispatch.meta.window import covered, reach


class _ConvNd(Module):
    """Weights and geometry of a convolution over ``len(kernel_size)`` dimensions."""

    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]
    in_channels: int
    out_channels: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...] | str,
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        _check_padding(padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _border_padding(padding, dilation, kernel_size)
        outer, inner = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        shape = (outer, inner // groups, *kernel_size)
        self.weight = Parameter(mindtorch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(mindtorch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform within 1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Return the geometry, and every option that is not the default."""
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "padding_mode"):
            self.padding_mode = "zeros"


def _check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")


def _check_padding(padding: Any, stride: tuple[int, ...], padding_mode: str) -> None:
    names = {"same", "valid"}
    if isinstance(padding, str):
        if padding not in names:
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {names}")
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    modes = {"zeros", "reflect", "replicate", "circular"}
    if padding_mode not in modes:
        raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")


def _border_padding(padding: Any, dilation: tuple[int, ...], kernel_size: tuple[int, ...]) -> Any:
    """Return the padding in the order ``F.pad`` takes: last dimension first, both sides."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    if padding == "valid":
        return [0, 0] * len(kernel_size)
    result: list[int] = []
    for d, k in zip(reversed(dilation), reversed(kernel_size), strict=False):
        total = reach(k, d) - 1
        result += [total // 2, total - total // 2]
    return result


class _ForwardConvNd(_ConvNd):
    """A convolution that is not transposed; the subclasses name their dimensions."""

    _functional: str
    _tuple: Any

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        as_tuple = type(self)._tuple
        super().__init__(
            in_channels,
            out_channels,
            as_tuple(kernel_size),
            as_tuple(stride),
            padding if isinstance(padding, str) else as_tuple(padding),
            as_tuple(dilation),
            False,
            as_tuple(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        convolve = getattr(F, self._functional)
        if self.padding_mode == "zeros":
            return convolve(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return convolve(padded, weight, bias, self.stride, self._tuple(0), self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """Map (N, in_channels, *) to (N, out_channels, *), or the same without N."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_ForwardConvNd):
    """Convolution over (N, C, L).

    `input` is (N, in_channels, L) or without N; the result has out_channels and
    floor((L + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1) places.
    >>> torch.nn.Conv1d(4, 6, 3, padding=1)(torch.ones(2, 4, 10)).shape
    torch.Size([2, 6, 10])
    """

    _functional = "conv1d"
    _tuple = staticmethod(_single)


class Conv2d(_ForwardConvNd):
    """Convolution over (N, C, H, W).

    `input` is (N, in_channels, H, W) or without N. Each size of the result is
    floor((size + 2 padding - dilation (kernel_size - 1) - 1) / stride + 1); `padding="same"` keeps it. `groups` splits the
    channels, `padding_mode` says what the border holds.
    >>> layer = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
    >>> layer(torch.ones(1, 3, 32, 32)).shape
    torch.Size([1, 8, 16, 16])
    >>> layer.weight.shape
    torch.Size([8, 3, 3, 3])
    """

    _functional = "conv2d"
    _tuple = staticmethod(_pair)


class Conv3d(_ForwardConvNd):
    """Convolution over (N, C, D, H, W).

    `input` is (N, in_channels, D, H, W) or without N.
    >>> torch.nn.Conv3d(1, 2, 3)(torch.ones(1, 1, 5, 5, 5)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    _functional = "conv3d"
    _tuple = staticmethod(_triple)


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution as a layer of its own."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Sequence[int] | None,
        stride: Sequence[int],
        padding: Any,
        kernel_size: Sequence[int],
        num_spatial_dims: int,
        dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return the output padding that makes the result ``output_size`` large."""
        if output_size is None:
            return _single(self.output_padding)
        has_batch = input.dim() == num_spatial_dims + 2
        leading = 2 if has_batch else 1
        if len(output_size) == leading + num_spatial_dims:
            output_size = output_size[leading:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {input.dim()}D input, output_size must have "
                f"{num_spatial_dims} or {leading + num_spatial_dims} elements (got {len(output_size)})"
            )
        gaps = [1] * num_spatial_dims if dilation is None else dilation
        low = [
            covered(input.size(d + leading), kernel_size[d], stride[d], padding[d], gaps[d])
            for d in range(num_spatial_dims)
        ]
        high = [low[d] + stride[d] - 1 for d in range(num_spatial_dims)]
        for size, least, most in zip(output_size, low, high, strict=False):
            if size < least or size > most:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from {low} to {high} (for an "
                    f"input of {input.size()[2:]})"
                )
        return [output_size[d] - low[d] for d in range(num_spatial_dims)]


class _TupledConvTransposeNd(_ConvTransposeNd):
    """A transposed convolution; the subclasses name their dimensions."""

    _functional: str
    _tuple: Any
    _spatial: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        as_tuple = type(self)._tuple
        super().__init__(
            in_channels,
            out_channels,
            as_tuple(kernel_size),
            as_tuple(stride),
            as_tuple(padding),
            as_tuple(dilation),
            True,
            as_tuple(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """Map (N, in_channels, *) to (N, out_channels, *), or the same without N."""
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for {type(self).__name__}")
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._spatial, self.dilation
        )
        convolve = getattr(F, self._functional)
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_TupledConvTransposeNd):
    """Transposed convolution over (N, C, L).
    >>> torch.nn.ConvTranspose1d(3, 2, kernel_size=4, stride=2)(torch.ones(1, 3, 5)).shape
    torch.Size([1, 2, 12])
    """

    _functional = "conv_transpose1d"
    _tuple = staticmethod(_single)
    _spatial = 1


class ConvTranspose2d(_TupledConvTransposeNd):
    """Transposed convolution over (N, C, H, W).

    `input` is (N, in_channels, H, W). Each size of the result is
    (size - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1.
    >>> torch.nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1)(torch.ones(1, 8, 16, 16)).shape
    torch.Size([1, 3, 32, 32])
    """

    _functional = "conv_transpose2d"
    _tuple = staticmethod(_pair)
    _spatial = 2


class ConvTranspose3d(_TupledConvTransposeNd):
    """Transposed convolution over (N, C, D, H, W).
    >>> torch.nn.ConvTranspose3d(1, 2, kernel_size=2, stride=2)(torch.ones(1, 1, 2, 2, 2)).shape
    torch.Size([1, 2, 4, 4, 4])
    """

    _functional = "conv_transpose3d"
    _tuple = staticmethod(_triple)
    _spatial = 3
