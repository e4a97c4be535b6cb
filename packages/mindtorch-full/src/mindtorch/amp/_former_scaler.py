"""What the scalers of `torch.cpu.amp` and `torch.cuda.amp` have in common: former names of `torch.amp.GradScaler`."""

import warnings

from mindtorch.amp.grad_scaler import GradScaler


class FormerGradScaler(GradScaler):
    """A scaler for devices of the type ``_kind``, whose name warns."""

    _kind: str

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        kind = self._kind
        warnings.warn(
            f"`torch.{kind}.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('{kind}', args...)` "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
