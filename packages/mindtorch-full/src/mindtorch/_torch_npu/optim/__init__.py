"""`torch_npu.optim`: optimizers whose step is few launches for all parameters."""

from __future__ import annotations

from collections.abc import Iterable

from mindtorch._submodules import offer
from mindtorch._torch_npu.optim._base import NpuFusedOptimizerBase
from mindtorch._torch_npu.optim._stepwise import NpuFusedAdamP, NpuFusedBertAdam, NpuFusedLamb, NpuFusedRMSpropTF
from mindtorch.optim import SGD, Adadelta, Adam, AdamW, RMSprop
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "NpuFusedAdadelta", "NpuFusedAdam", "NpuFusedAdamP", "NpuFusedAdamW", "NpuFusedBertAdam", "NpuFusedLamb",
    "NpuFusedOptimizerBase", "NpuFusedRMSprop", "NpuFusedRMSpropTF", "NpuFusedSGD",
]  # fmt: skip

Params = Iterable[Tensor] | Iterable[dict[str, object]]


class NpuFusedAdam(NpuFusedOptimizerBase, Adam):
    """`torch.optim.Adam` with `fused=True`."""

    def __init__(self, params: Params, *args: object, **options: object) -> None:
        super().__init__(params, *args, fused=True, **options)  # type: ignore[arg-type]


class NpuFusedAdamW(NpuFusedOptimizerBase, AdamW):
    """`torch.optim.AdamW` with `fused=True`."""

    def __init__(self, params: Params, *args: object, **options: object) -> None:
        super().__init__(params, *args, fused=True, **options)  # type: ignore[arg-type]


class NpuFusedSGD(NpuFusedOptimizerBase, SGD):
    """`torch.optim.SGD`."""


class NpuFusedAdadelta(NpuFusedOptimizerBase, Adadelta):
    """`torch.optim.Adadelta`."""


class NpuFusedRMSprop(NpuFusedOptimizerBase, RMSprop):
    """`torch.optim.RMSprop`."""


offer(
    globals(),
    {
        "npu_fused_optim_base": "NpuFusedOptimizerBase",
        "npu_fused_adadelta": "NpuFusedAdadelta",
        "npu_fused_adam": "NpuFusedAdam",
        "npu_fused_adamp": "NpuFusedAdamP",
        "npu_fused_adamw": "NpuFusedAdamW",
        "npu_fused_bert_adam": "NpuFusedBertAdam",
        "npu_fused_lamb": "NpuFusedLamb",
        "npu_fused_rmsprop": "NpuFusedRMSprop",
        "npu_fused_rmsprop_tf": "NpuFusedRMSpropTF",
        "npu_fused_sgd": "NpuFusedSGD",
    },
)
