"""Containers of modules that follow each other; conversion puts one quantized module in the place of each."""

from __future__ import annotations

from typing import Any, ClassVar

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]


class _FusedModule(nn.Sequential):
    """Modules that are one to quantization."""


class _Typed(_FusedModule):
    """Modules of given types; AssertionError for others."""

    _types: ClassVar[tuple[type, ...]]

    def _take(self, *modules: Any) -> None:
        found = [type_before_parametrizations(one) for one in modules]
        if tuple(found) != self._types:
            names = [one.__name__ for one in found]
            listed = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]}, {names[1]}, and {names[2]}"
            raise AssertionError(f"Incorrect types for input modules: {listed}")
        nn.Sequential.__init__(self, *modules)


class _ConvReLU(_Typed):
    def __init__(self, conv: Any, relu: Any) -> None:
        self._take(conv, relu)


class _ConvBn(_Typed):
    def __init__(self, conv: Any, bn: Any) -> None:
        self._take(conv, bn)


class _ConvBnReLU(_Typed):
    def __init__(self, conv: Any, bn: Any, relu: Any) -> None:
        self._take(conv, bn, relu)


class _BNReLU(_Typed):
    def __init__(self, batch_norm: Any, relu: Any) -> None:
        self._take(batch_norm, relu)


class ConvReLU1d(_ConvReLU):
    """A convolution over one dimension, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvReLU1d(nn.Conv1d(1, 2, 3), nn.ReLU())
    >>> layer(torch.ones(1, 1, 3)).shape
    torch.Size([1, 2, 1])
    """

    _types = (nn.Conv1d, nn.ReLU)


class ConvReLU2d(_ConvReLU):
    """A convolution over two dimensions, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvReLU2d(nn.Conv2d(1, 2, 3), nn.ReLU())
    >>> layer(torch.ones(1, 1, 3, 3)).shape
    torch.Size([1, 2, 1, 1])
    """

    _types = (nn.Conv2d, nn.ReLU)


class ConvReLU3d(_ConvReLU):
    """A convolution over three dimensions, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvReLU3d(nn.Conv3d(1, 2, 3), nn.ReLU())
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    _types = (nn.Conv3d, nn.ReLU)


class ConvBn1d(_ConvBn):
    """A convolution over one dimension, and normalization.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBn1d(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2)).eval()
    >>> layer(torch.ones(1, 1, 3)).shape
    torch.Size([1, 2, 1])
    """

    _types = (nn.Conv1d, nn.BatchNorm1d)


class ConvBn2d(_ConvBn):
    """A convolution over two dimensions, and normalization.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBn2d(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).eval()
    >>> layer(torch.ones(1, 1, 3, 3)).shape
    torch.Size([1, 2, 1, 1])
    """

    _types = (nn.Conv2d, nn.BatchNorm2d)


class ConvBn3d(_ConvBn):
    """A convolution over three dimensions, and normalization.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBn3d(nn.Conv3d(1, 2, 3), nn.BatchNorm3d(2)).eval()
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    _types = (nn.Conv3d, nn.BatchNorm3d)


class ConvBnReLU1d(_ConvBnReLU):
    """A convolution over one dimension, normalization and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBnReLU1d(nn.Conv1d(1, 2, 3), nn.BatchNorm1d(2), nn.ReLU()).eval()
    >>> layer(torch.ones(1, 1, 3)).shape
    torch.Size([1, 2, 1])
    """

    _types = (nn.Conv1d, nn.BatchNorm1d, nn.ReLU)


class ConvBnReLU2d(_ConvBnReLU):
    """A convolution over two dimensions, normalization and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBnReLU2d(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> layer(torch.ones(1, 1, 3, 3)).shape
    torch.Size([1, 2, 1, 1])
    """

    _types = (nn.Conv2d, nn.BatchNorm2d, nn.ReLU)


class ConvBnReLU3d(_ConvBnReLU):
    """A convolution over three dimensions, normalization and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvBnReLU3d(nn.Conv3d(1, 2, 3), nn.BatchNorm3d(2), nn.ReLU()).eval()
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    _types = (nn.Conv3d, nn.BatchNorm3d, nn.ReLU)


class BNReLU2d(_BNReLU):
    """Normalization of images, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> nni.BNReLU2d(nn.BatchNorm2d(1), nn.ReLU()).eval()(torch.tensor([[[[-1.0, 2.0]]]])).detach().round(
    ...     decimals=3
    ... )
    tensor([[[[0., 2.]]]])
    """

    _types = (nn.BatchNorm2d, nn.ReLU)


class BNReLU3d(_BNReLU):
    """Normalization of volumes, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> nni.BNReLU3d(nn.BatchNorm3d(1), nn.ReLU()).eval()(torch.tensor([[[[[-1.0, 2.0]]]]])).detach().round(
    ...     decimals=3
    ... )
    tensor([[[[[0., 2.]]]]])
    """

    _types = (nn.BatchNorm3d, nn.ReLU)


class LinearReLU(_Typed):
    """A linear layer, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> bool((nni.LinearReLU(nn.Linear(2, 3), nn.ReLU())(torch.ones(1, 2)) >= 0).all())
    True
    """

    _types = (nn.Linear, nn.ReLU)

    def __init__(self, linear: Any, relu: Any) -> None:
        self._take(linear, relu)


class LinearBn1d(_Typed):
    """A linear layer, and normalization.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> nni.LinearBn1d(nn.Linear(2, 3), nn.BatchNorm1d(3)).eval()(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    _types = (nn.Linear, nn.BatchNorm1d)

    def __init__(self, linear: Any, bn: Any) -> None:
        self._take(linear, bn)


class LinearLeakyReLU(_Typed):
    """A linear layer, and leaky ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> nni.LinearLeakyReLU(nn.Linear(2, 3), nn.LeakyReLU(0.1))(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    _types = (nn.Linear, nn.LeakyReLU)

    def __init__(self, linear: Any, leaky_relu: Any) -> None:
        self._take(linear, leaky_relu)


class LinearTanh(_Typed):
    """A linear layer, and tanh.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> bool((nni.LinearTanh(nn.Linear(2, 3), nn.Tanh())(torch.ones(1, 2)).abs() < 1).all())
    True
    """

    _types = (nn.Linear, nn.Tanh)

    def __init__(self, linear: Any, tanh: Any) -> None:
        self._take(linear, tanh)


class ConvAdd2d(_FusedModule):
    """A convolution, and a sum with something else.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvAdd2d(nn.Conv2d(1, 1, 1), torch.add)
    >>> layer(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2)).shape
    torch.Size([1, 1, 2, 2])
    """

    def __init__(self, conv: Any, add: Any) -> None:
        super().__init__(conv)
        self.add = add

    def forward(self, x1: Tensor, x2: Tensor) -> Any:  # type: ignore[override]
        """Add `x2` to what the convolution makes of `x1`."""
        return self.add(self[0](x1), x2)


class ConvAddReLU2d(_FusedModule):
    """A convolution, a sum with something else, and ReLU.

    >>> import torch.ao.nn.intrinsic as nni
    >>> nn = torch.nn
    >>> layer = nni.ConvAddReLU2d(nn.Conv2d(1, 1, 1), torch.add, nn.ReLU())
    >>> bool((layer(torch.ones(1, 1, 2, 2), -torch.ones(1, 1, 2, 2)) >= 0).all())
    True
    """

    def __init__(self, conv: Any, add: Any, relu: Any) -> None:
        super().__init__(conv)
        self.add = add
        self.relu = relu

    def forward(self, x1: Tensor, x2: Tensor) -> Any:  # type: ignore[override]
        """Add `x2` to what the convolution makes of `x1`; what is positive of it."""
        return self.relu(self.add(self[0](x1), x2))


adopt(globals())
