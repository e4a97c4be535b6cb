"""Convolution layers, their transposes, and the forms that learn their channels from the first input."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.modules._conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from mindtorch.nn.modules._conv import (
    _ConvNd as _ConvNd,
)
from mindtorch.nn.modules._conv import (
    _ConvTransposeNd as _ConvTransposeNd,
)
from mindtorch.nn.modules._conv import (
    _ForwardConvNd as _ForwardConvNd,
)
from mindtorch.nn.modules._conv import (
    _TupledConvTransposeNd as _TupledConvTransposeNd,
)
from mindtorch.nn.modules.lazy import LazyModuleMixin
from mindtorch.nn.parameter import UninitializedParameter

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConvXdMixin(LazyModuleMixin):
    """Takes ``in_channels`` from the first input."""

    in_channels: int
    groups: int
    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def reset_parameters(self) -> None:
        """Draw the parameters, once they have a shape."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Give weight and bias the shape that ``input`` needs."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        self.weight.materialize((outer, inner // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        spatial = self._get_num_spatial_dims()
        if input.dim() not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to "
                f"{self.__class__.__name__}, but got input of size: {input.shape}"
            )
        return input.shape[1] if input.dim() == spatial + 2 else input.shape[0]

    def _get_num_spatial_dims(self) -> int:
        raise NotImplementedError


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self,
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
        # Zero channels and no bias: the base draws no random numbers.
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self,
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
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d that takes ``in_channels`` from its first input.

    >>> torch.nn.LazyConv1d(2, 3)(torch.ones(1, 1, 5)).shape
    torch.Size([1, 2, 3])
    """

    cls_to_become = Conv1d

    def _get_num_spatial_dims(self) -> int:
        return 1


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d that takes ``in_channels`` from its first input.

    >>> torch.nn.LazyConv2d(2, 3)(torch.ones(1, 1, 5, 5)).shape
    torch.Size([1, 2, 3, 3])
    """

    cls_to_become = Conv2d

    def _get_num_spatial_dims(self) -> int:
        return 2


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d that takes ``in_channels`` from its first input.

    >>> layer = torch.nn.LazyConv3d(2, kernel_size=1)
    >>> _ = layer(torch.ones(1, 4, 2, 2, 2))
    >>> layer.in_channels
    4
    """

    cls_to_become = Conv3d

    def _get_num_spatial_dims(self) -> int:
        return 3


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d that takes ``in_channels`` from its first input.

    >>> layer = torch.nn.LazyConvTranspose1d(2, kernel_size=1)
    >>> _ = layer(torch.ones(1, 4, 3))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose1d

    def _get_num_spatial_dims(self) -> int:
        return 1


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d that takes ``in_channels`` from its first input.

    >>> layer = torch.nn.LazyConvTranspose2d(2, kernel_size=1)
    >>> _ = layer(torch.ones(1, 4, 3, 3))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose2d

    def _get_num_spatial_dims(self) -> int:
        return 2


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d that takes ``in_channels`` from its first input.

    >>> layer = torch.nn.LazyConvTranspose3d(2, kernel_size=1)
    >>> _ = layer(torch.ones(1, 4, 2, 2, 2))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose3d

    def _get_num_spatial_dims(self) -> int:
        return 3


adopt(globals())
