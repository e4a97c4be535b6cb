"""What layers with a normalization of their own have in common while they are trained with rounded weights."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.ao.nn.intrinsic import _FusedModule
from mindtorch.nn import init
from mindtorch.nn.parameter import Parameter


class NormalizedModule(_FusedModule):
    """A layer that normalizes, too; its normalization learns, or is frozen."""

    bn: Any
    bias: Any

    def _begin(self, bn: Any, bias: Any, freeze_bn: bool, qconfig: Any) -> None:
        """Take a normalization and a configuration; the bias, where there is one, is added behind the rounded product."""
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = bn
        self.weight_fake_quant = qconfig.weight()
        if bias:
            self.bias = Parameter(torch.empty(bn.num_features))
        else:
            self.register_parameter("bias", None)
        self.reset_bn_parameters()
        if self.training and not freeze_bn:
            self.update_bn_stats()
        else:
            self.freeze_bn_stats()

    def _take_norm(self, bn: Any) -> None:
        """Share parameters and statistics with another normalization."""
        for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
            setattr(self.bn, name, getattr(bn, name))

    def reset_running_stats(self) -> None:
        """Forget what the normalization saw."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Give the normalization new values."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)

    def update_bn_stats(self) -> Any:
        """Let the normalization learn from what passes."""
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self) -> Any:
        """Let the normalization stay as it is."""
        self.freeze_bn = True
        self.bn.training = False
        return self

    def train(self, mode: bool = True) -> Any:
        """Set the mode; a frozen normalization keeps its own."""
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():
                module.train(mode)
        return self
