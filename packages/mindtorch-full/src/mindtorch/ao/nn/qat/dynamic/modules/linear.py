"""A linear layer that is trained as one whose inputs are quantized as they come."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.ao.nn import qat

__all__ = ["Linear"]


class Linear(qat.Linear):
    """`nn.Linear` whose weight is rounded; its observer of activations keeps nothing of earlier ones.

    >>> import torch.ao.nn.qat.dynamic as nnqatd
    >>> from torch.ao.quantization.qconfig import default_dynamic_qat_qconfig
    >>> nnqatd.Linear(2, 3, qconfig=default_dynamic_qat_qconfig)(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, qconfig, device, dtype)
        if not torch.ao.quantization.qconfig._activation_is_memoryless(qconfig):
            raise ValueError(
                "Dynamic QAT requires a memoryless observer."
                "This means a MovingAverage observer with averaging constant equal to 1"
            )


adopt(globals())
