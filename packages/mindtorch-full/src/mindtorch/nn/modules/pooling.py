"""Pooling layers: maximum, average, power average, fractional, adaptive, and their inverses."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules._adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
)
from mindtorch.nn.modules._adaptive_pooling import (
    _AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd,
)
from mindtorch.nn.modules._adaptive_pooling import (
    _AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd,
)
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.utils import _pair, _single, _triple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pool(self, pool: Any, input: Tensor) -> Any:
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of windows of (N, C, L).

    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1., 3.]]))
    tensor([[3.]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return self._pool(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """The maximum of windows of (N, C, H, W).

    `input` is (N, C, H, W) or without N; `stride` is the kernel size by default.

    >>> torch.nn.MaxPool2d(2)(torch.arange(16.).view(1, 1, 4, 4))
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return self._pool(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """The maximum of windows of (N, C, D, H, W).

    >>> torch.nn.MaxPool3d(2)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return self._pool(F.max_pool3d, input)


class _MaxUnpoolNd(Module):
    _tuple: Any
    _unpool: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = self._tuple(kernel_size)
        self.stride = self._tuple(stride if stride is not None else kernel_size)
        self.padding = self._tuple(padding)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """Return the unpooled tensor."""
        return self._unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        """Return the geometry."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool1d found them, zeros elsewhere.

    >>> pool = torch.nn.MaxPool1d(2, return_indices=True)
    >>> torch.nn.MaxUnpool1d(2)(*pool(torch.tensor([[1.0, 2.0, 4.0, 3.0]])))
    tensor([[0., 2., 4., 0.]])
    """

    _tuple, _unpool = staticmethod(_single), staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool2d found them, zeros elsewhere.

    >>> pool = torch.nn.MaxPool2d(2, return_indices=True)
    >>> torch.nn.MaxUnpool2d(2)(*pool(torch.arange(4.0).reshape(1, 2, 2)))
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    _tuple, _unpool = staticmethod(_pair), staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts maxima back where MaxPool3d found them, zeros elsewhere.

    >>> pool = torch.nn.MaxPool3d(2, return_indices=True)
    >>> torch.nn.MaxUnpool3d(2)(*pool(torch.arange(8.0).reshape(1, 2, 2, 2))).sum()
    tensor(7.)
    """

    _tuple, _unpool = staticmethod(_triple), staticmethod(F.max_unpool3d)


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]
    ceil_mode: bool
    count_include_pad: bool

    def extra_repr(self) -> str:
        """Return the geometry."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of windows of (N, C, L).

    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1., 3.]]))
    tensor([[2.]])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _DivisorAvgPoolNd(_AvgPoolNd):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _pool(self, pool: Any, input: Tensor) -> Tensor:
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_DivisorAvgPoolNd):
    """The mean of windows of (N, C, H, W).

    `input` is (N, C, H, W) or without N; `stride` is the kernel size by default.

    >>> torch.nn.AvgPool2d(2)(torch.ones(1, 1, 4, 4))
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return self._pool(F.avg_pool2d, input)


class AvgPool3d(_DivisorAvgPoolNd):
    """The mean of windows of (N, C, D, H, W).

    >>> torch.nn.AvgPool3d(2)(torch.ones(1, 2, 2, 2)).shape
    torch.Size([1, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return self._pool(F.avg_pool3d, input)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding", 0)
        self.__dict__.setdefault("ceil_mode", False)
        self.__dict__.setdefault("count_include_pad", True)


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    norm_type: float
    ceil_mode: bool

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        """Return the geometry."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The p-norm of windows of (N, C, L).

    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3., 4.]]))
    tensor([[5.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    """The p-norm of windows of (N, C, H, W).

    >>> torch.nn.LPPool2d(2, 2)(torch.ones(1, 2, 2)).shape
    torch.Size([1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    """The p-norm of windows of (N, C, D, H, W).

    >>> torch.nn.LPPool3d(2, kernel_size=2)(torch.ones(1, 2, 2, 2))
    tensor([[[[2.8284]]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the norms."""
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


adopt(globals())
