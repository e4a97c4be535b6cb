"""`torch_npu.optim`: optimizers whose step is few launches for all parameters."""

from __future__ import annotations

from typing import Any

from mindtorch.nn.utils import clip_grad_norm_
from mindtorch.optim import SGD, Adadelta, Adam, AdamW, RMSprop

__all__ = [
    "NpuFusedAdadelta", "NpuFusedAdam", "NpuFusedAdamW", "NpuFusedOptimizerBase", "NpuFusedRMSprop", "NpuFusedSGD",
]  # fmt: skip


class NpuFusedOptimizerBase:
    """What these optimizers have beside torch's: the clipping of gradients that they are to update with."""

    param_groups: list[dict[str, Any]]

    def clip_grad_norm_fused_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """Scale all gradients so that their total norm is at most `max_norm`; return the norm before."""
        return clip_grad_norm_([p for group in self.param_groups for p in group["params"]], max_norm, norm_type)


class NpuFusedAdam(NpuFusedOptimizerBase, Adam):
    """`torch.optim.Adam` with `fused=True`."""

    def __init__(self, params: Any, *args: Any, **options: Any) -> None:
        super().__init__(params, *args, fused=True, **options)


class NpuFusedAdamW(NpuFusedOptimizerBase, AdamW):
    """`torch.optim.AdamW` with `fused=True`."""

    def __init__(self, params: Any, *args: Any, **options: Any) -> None:
        super().__init__(params, *args, fused=True, **options)


class NpuFusedSGD(NpuFusedOptimizerBase, SGD):
    """`torch.optim.SGD`."""


class NpuFusedAdadelta(NpuFusedOptimizerBase, Adadelta):
    """`torch.optim.Adadelta`."""


class NpuFusedRMSprop(NpuFusedOptimizerBase, RMSprop):
    """`torch.optim.RMSprop`."""
