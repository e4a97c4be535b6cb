"""Methods of the layers of `torch.nn` in what this compiler compiles, by the class that they stand in."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules import batchnorm, conv, pooling


class Sequential:
    """One after the other."""

    def forward(self: Any, input):  # type: ignore[no-untyped-def]
        """Return what the last gives."""
        for module in self:
            input = module(input)
        return input


class BatchNorm:
    """Batch normalization: in training the statistics are counted."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the values by mean and variance."""
        self._check_input_dim(input)
        if self.momentum is None:
            exponential_average_factor = 0.0
        else:
            exponential_average_factor = self.momentum
        if self.training and self.track_running_stats:  # noqa: SIM102 - a constant first: the rest has no type without it
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if self.momentum is None:
                    exponential_average_factor = 1.0 / float(self.num_batches_tracked)
                else:
                    exponential_average_factor = self.momentum
        if self.training:
            bn_training = True
        else:
            bn_training = (self.running_mean is None) and (self.running_var is None)
        return F.batch_norm(
            input,
            self.running_mean if not self.training or self.track_running_stats else None,
            self.running_var if not self.training or self.track_running_stats else None,
            self.weight,
            self.bias,
            bn_training,
            exponential_average_factor,
            self.eps,
        )


class BatchNorm1d:
    """Of sequences."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d:
    """Of images."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d:
    """Of volumes."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class Conv1d:
    """Convolutions of sequences."""

    def _conv_forward(self: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return F.conv1d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight, bias, self.stride, [0], self.dilation, self.groups,
            )  # fmt: skip
        return F.conv1d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d:
    """Convolutions of images."""

    def _conv_forward(self: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return F.conv2d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight, bias, self.stride, [0, 0], self.dilation, self.groups,
            )  # fmt: skip
        return F.conv2d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d:
    """Convolutions of volumes."""

    def _conv_forward(self: Any, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode != "zeros":
            return F.conv3d(
                F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode),
                weight, bias, self.stride, [0, 0, 0], self.dilation, self.groups,
            )  # fmt: skip
        return F.conv3d(input, weight, bias, self.stride, self.padding, self.dilation, self.groups)

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return self._conv_forward(input, self.weight, self.bias)


class ConvTranspose1d:
    """Transposed convolutions of sequences."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class ConvTranspose2d:
    """Transposed convolutions of images."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class ConvTranspose3d:
    """Transposed convolutions of volumes."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the convolution."""
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


class MaxPool1d:
    """Maxima of sequences."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch.max_pool1d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool2d:
    """Maxima of images."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool3d:
    """Maxima of volumes."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch.max_pool3d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class AvgPool2d:
    """Means of images."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the means."""
        return torch._C._nn.avg_pool2d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool3d:
    """Means of volumes."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the means."""
        return torch._C._nn.avg_pool3d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AdaptiveMaxPool1d:
    """Maxima of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch.adaptive_max_pool1d(input, self.output_size)[0]


class AdaptiveMaxPool2d:
    """Maxima of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch._C._nn.adaptive_max_pool2d(input, self.output_size)[0]


class AdaptiveMaxPool3d:
    """Maxima of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the maxima."""
        return torch._C._nn.adaptive_max_pool3d(input, self.output_size)[0]


class AdaptiveAvgPool1d:
    """Means of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the means."""
        return torch.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d:
    """Means of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the means."""
        return torch._C._nn.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d:
    """Means of as many windows as are asked for."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the means."""
        return torch._C._nn.adaptive_avg_pool3d(input, self.output_size)


class CTCLoss:
    """The loss of all alignments."""

    def forward(self: Any, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> Tensor:
        """Return the loss."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


STANDS_IN: dict[type, type] = {
    torch.nn.Sequential: Sequential, torch.nn.CTCLoss: CTCLoss,
    batchnorm._BatchNorm: BatchNorm, batchnorm.BatchNorm1d: BatchNorm1d,
    batchnorm.BatchNorm2d: BatchNorm2d, batchnorm.BatchNorm3d: BatchNorm3d, conv.Conv1d: Conv1d, conv.Conv2d: Conv2d,
    conv.Conv3d: Conv3d, conv.ConvTranspose1d: ConvTranspose1d, conv.ConvTranspose2d: ConvTranspose2d,
    conv.ConvTranspose3d: ConvTranspose3d, pooling.MaxPool1d: MaxPool1d, pooling.MaxPool2d: MaxPool2d,
    pooling.MaxPool3d: MaxPool3d, pooling.AvgPool2d: AvgPool2d, pooling.AvgPool3d: AvgPool3d,
    pooling.AdaptiveMaxPool1d: AdaptiveMaxPool1d,
    pooling.AdaptiveMaxPool2d: AdaptiveMaxPool2d,
    pooling.AdaptiveMaxPool3d: AdaptiveMaxPool3d,
    pooling.AdaptiveAvgPool1d: AdaptiveAvgPool1d,
    pooling.AdaptiveAvgPool2d: AdaptiveAvgPool2d,
    pooling.AdaptiveAvgPool3d: AdaptiveAvgPool3d,
}  # fmt: skip
"""The class whose methods stand in for those of a layer."""
