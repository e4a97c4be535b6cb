"""`torch.npu.amp`: `torch.amp` for Ascend devices."""

import functools

from mindtorch import amp as _amp
from mindtorch._absence import stand_in
from mindtorch._naming import adopt
from mindtorch._submodules import offer
from mindtorch.npu.options import clear_npu_overflow_flag, get_npu_overflow_flag, is_support_inf_nan
from mindtorch.optim.optimizer import Optimizer
from mindtorch.tensor.tensor import Tensor
from mindtorch_npu import runtime
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_amp.autocast):
    """`torch.amp.autocast("npu")`.

    >>> with torch.npu.amp.autocast():
    ...     print((torch.ones(2, 2, device="npu") @ torch.ones(2, 2, device="npu")).dtype)
    torch.float16
    """

    def __init__(self, enabled: bool = True, dtype: Dtype | None = None, cache_enabled: bool = True) -> None:
        super().__init__("npu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_amp.GradScaler):
    """`torch.amp.GradScaler("npu")`, with two rules of torch_npu's own.

    Once a gradient has overflowed, every step until the next `update` is left out, also those of other optimizers. Where it
    is not `dynamic`, the scale stays as it is and no step is left out.

    >>> scaler = torch.npu.amp.GradScaler(init_scale=8.0)
    >>> scaler.scale(torch.ones(1, device="npu")).tolist()
    [8.0]
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        super().__init__("npu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
        self._dynamic = dynamic
        self._overflow: Tensor | None = None

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Device, Tensor]:
        found: dict[Device, Tensor] = super()._unscale_grads_(optimizer, inv_scale, found_inf, allow_fp16)
        for flag in found.values():
            here = flag.to(found_inf.device, non_blocking=True)
            self._overflow = here if self._overflow is None else self._overflow + here
        return found

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: dict[str, object], *args: object, **kwargs: object
    ) -> object:
        flags = {} if not self._dynamic or self._overflow is None else {self._overflow.device: self._overflow}
        return super()._maybe_opt_step(optimizer, {"found_inf_per_device": flags}, *args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Change the scale as the gradients were, or to a new one."""
        if new_scale is not None or self._dynamic:
            super().update(new_scale)
        elif self._enabled:
            self._per_optimizer_states.clear()
        self._overflow = None

    def state_dict(self) -> dict[str, object]:
        """Return what `load_state_dict` takes, empty where scaling is off."""
        found: dict[str, object] = super().state_dict()
        return {**found, "dynamic": self._dynamic} if found else found

    def load_state_dict(self, state_dict: dict[str, object]) -> None:
        """Go on from a state."""
        given = dict(state_dict)
        self._dynamic = bool(given.pop("dynamic", self._dynamic))
        super().load_state_dict(given)

    @staticmethod
    def get_npu_overflow_flag() -> bool:
        """Return whether a number was too large since the flag was cleared; never on chips that give infinity."""
        return not is_support_inf_nan() and get_npu_overflow_flag()

    @staticmethod
    def clear_npu_overflow_flag() -> None:
        """Clear the flag; chips that give infinity have none."""
        if not is_support_inf_nan():
            clear_npu_overflow_flag()


def amp_definitely_not_available() -> bool:
    """Return whether there is no device to compute on in lower precision."""
    return not runtime.is_available()


custom_fwd = functools.partial(_amp.custom_fwd, device_type="npu")
custom_bwd = functools.partial(_amp.custom_bwd, device_type="npu")

offer(
    globals(),
    {
        "autocast_mode": "autocast custom_bwd custom_fwd",
        "common": "amp_definitely_not_available",
        "grad_scaler": "GradScaler",
        "sharded_grad_scaler": {
            name: stand_in(
                "torch_npu.npu.amp.sharded_grad_scaler", name, "fully_shard shards parameters; use GradScaler"
            )
            for name in ("_ShardedGradScaler", "ShardedGradScaler")
        },
    },
)
adopt(globals())
