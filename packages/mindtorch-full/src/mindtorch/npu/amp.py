"""`torch.npu.amp`: `torch.amp` for Ascend devices."""

import functools
from typing import Any

from mindtorch import amp as _amp
from mindtorch._naming import adopt

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_amp.autocast):
    """`torch.amp.autocast("npu")`."""

    def __init__(self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> None:
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`torch.amp.GradScaler("npu")`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


custom_fwd = functools.partial(_amp.custom_fwd, device_type="npu")
custom_bwd = functools.partial(_amp.custom_bwd, device_type="npu")

adopt(globals())
