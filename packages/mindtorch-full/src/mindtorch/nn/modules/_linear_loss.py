"""The layer of :func:`nn.functional.linear_cross_entropy`."""

import math
from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules._loss_base import _WeightedLoss
from mindtorch.nn.modules.linear import Linear


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of logits that a linear layer of its own makes of the input.

    >>> loss = torch.nn.LinearCrossEntropyLoss(4, 3)
    >>> loss(torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])).shape
    torch.Size([])
    """

    __constants__ = ["ignore_index", "label_smoothing", "reduction"]

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: Any = None,
    ) -> None:
        super().__init__(weight, None, None, reduction)
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        self.in_features = in_features
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options
        self.linear = Linear(in_features, num_classes * math.prod(out_features), bias=bias, device=device, dtype=dtype)

    def extra_repr(self) -> str:
        """The arguments of the layer."""
        return (
            f"in_features={self.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss, a scalar unless ``reduction="none"``."""
        weight: Tensor = self.linear.weight
        bias: Tensor | None = self.linear.bias
        if self.out_features:
            shape = (self.num_classes, *self.out_features)
            weight = weight.reshape(*shape, self.in_features)
            bias = None if bias is None else bias.reshape(shape)
        return F.linear_cross_entropy(
            input,
            weight,
            target,
            linear_bias=bias,
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )
