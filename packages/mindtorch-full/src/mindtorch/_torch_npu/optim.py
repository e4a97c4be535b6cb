"""`torch_npu.optim`: optimizers that make a step in one launch per parameter."""

from typing import Any

from mindtorch.optim import Adam, AdamW

__all__ = ["NpuFusedAdam", "NpuFusedAdamW"]


class NpuFusedAdam(Adam):
    """`torch.optim.Adam` with `fused=True`."""

    def __init__(self, params: Any, *args: Any, **options: Any) -> None:
        super().__init__(params, *args, fused=True, **options)


class NpuFusedAdamW(AdamW):
    """`torch.optim.AdamW` with `fused=True`."""

    def __init__(self, params: Any, *args: Any, **options: Any) -> None:
        super().__init__(params, *args, fused=True, **options)
