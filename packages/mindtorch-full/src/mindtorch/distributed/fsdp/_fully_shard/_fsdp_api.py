"""What `fully_shard` is configured with."""

from __future__ import annotations

from dataclasses import dataclass

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["CPUOffloadPolicy", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of parameters while they are whole, of reductions and of outputs."""

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    output_dtype: torch.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are computed with."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters, their gradients and the optimizer's state lie in the host's memory."""

    pin_memory: bool = True


adopt(globals(), "torch.distributed.fsdp")
