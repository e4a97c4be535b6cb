"""Pooling to a given output size; public through ``nn.modules.pooling``."""

from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.utils import _pair, _triple


class _FractionalMaxPoolNd(Module):
    """Windows of random position, so that the output has the wanted size."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    _tuple: Any

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        as_tuple = type(self)._tuple
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        self.kernel_size = as_tuple(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = as_tuple(output_size) if output_size is not None else None
        self.output_ratio = as_tuple(output_ratio) if output_ratio is not None else None
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _pool(self, pool: Any, input: Tensor) -> Any:
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Fractional max pooling of (N, C, H, W).

    >>> torch.nn.FractionalMaxPool2d(2, output_size=(2, 3))(torch.ones(1, 5, 7)).shape
    torch.Size([1, 2, 3])
    """

    _tuple = staticmethod(_pair)

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return self._pool(F.fractional_max_pool2d, input)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Fractional max pooling of (N, C, D, H, W).

    >>> torch.nn.FractionalMaxPool3d(2, output_size=2)(torch.ones(1, 5, 5, 5)).shape
    torch.Size([1, 2, 2, 2])
    """

    _tuple = staticmethod(_triple)

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return self._pool(F.fractional_max_pool3d, input)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    return_indices: bool

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        """Return the output size."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Max pooling of (N, C, L) to a given length.

    >>> torch.nn.AdaptiveMaxPool1d(2)(torch.ones(1, 2, 4)).shape
    torch.Size([1, 2, 2])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Max pooling of (N, C, H, W) to a given size.

    >>> torch.nn.AdaptiveMaxPool2d(1)(torch.ones(1, 2, 4, 4)).shape
    torch.Size([1, 2, 1, 1])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Max pooling of (N, C, D, H, W) to a given size.

    >>> torch.nn.AdaptiveMaxPool3d(1)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return the maxima, and with ``return_indices`` where they were."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    output_size: Any

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the output size."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Mean pooling of (N, C, L) to a given length.

    >>> torch.nn.AdaptiveAvgPool1d(2)(torch.ones(1, 2, 4)).shape
    torch.Size([1, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Mean pooling of (N, C, H, W) to a given size.

    The result is (N, C, *output_size); None keeps a size.

    >>> torch.nn.AdaptiveAvgPool2d(1)(torch.ones(1, 2, 5, 7)).shape
    torch.Size([1, 2, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Mean pooling of (N, C, D, H, W) to a given size.

    >>> torch.nn.AdaptiveAvgPool3d(1)(torch.ones(1, 2, 4, 4, 4)).shape
    torch.Size([1, 2, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        return F.adaptive_avg_pool3d(input, self.output_size)
