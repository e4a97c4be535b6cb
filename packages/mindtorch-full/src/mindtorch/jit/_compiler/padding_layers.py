"""Layers that pad, unpool and normalize single samples, in what this compiler compiles."""

from __future__ import annotations

from typing import Any

from mindtorch import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules import instancenorm, padding, pooling


class CircularPad:
    """Padding by what is on the other side."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the padded values."""
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")


class CircularPad1d:
    """Of sequences."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 2 and input.dim() != 3:
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class CircularPad2d:
    """Of images."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 3 and input.dim() != 4:
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class CircularPad3d:
    """Of volumes."""

    def _check_input_dim(self: Any, input: Tensor) -> None:
        if input.dim() != 4 and input.dim() != 5:
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


class MaxUnpool1d:
    """Maxima of sequences where they were."""

    def forward(self: Any, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        """Return the values, zeros elsewhere."""
        return F.max_unpool1d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool2d:
    """Maxima of images where they were."""

    def forward(self: Any, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        """Return the values, zeros elsewhere."""
        return F.max_unpool2d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool3d:
    """Maxima of volumes where they were."""

    def forward(self: Any, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        """Return the values, zeros elsewhere."""
        return F.max_unpool3d(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class InstanceNorm:
    """Normalization of every channel of every sample."""

    def forward(self: Any, input: Tensor) -> Tensor:
        """Return the values by mean and variance."""
        self._check_input_dim(input)
        feature_dim = input.dim() - self._get_no_batch_dim()
        if input.size(feature_dim) != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={feature_dim} to match num_features ({self.num_features}), but got: "
                f"{input.size(feature_dim)}."
            )
        if input.dim() == self._get_no_batch_dim():
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)  # type: ignore[no-any-return]
        return self._apply_instance_norm(input)  # type: ignore[no-any-return]

    def _apply_instance_norm(self: Any, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )


STANDS_IN: dict[type, type] = {
    padding._CircularPadNd: CircularPad, padding.CircularPad1d: CircularPad1d, padding.CircularPad2d: CircularPad2d,
    padding.CircularPad3d: CircularPad3d, pooling.MaxUnpool1d: MaxUnpool1d, pooling.MaxUnpool2d: MaxUnpool2d,
    pooling.MaxUnpool3d: MaxUnpool3d, instancenorm._InstanceNorm: InstanceNorm,
}  # fmt: skip
