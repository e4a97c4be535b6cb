"""`torch.cuda.amp.GradScaler`: the old name of `torch.amp.GradScaler("cuda")`, which warns."""

import warnings

from mindtorch import amp
from mindtorch._naming import adopt

__all__ = ["GradScaler"]


class GradScaler(amp.GradScaler):
    """`torch.amp.GradScaler("cuda", ...)`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cuda.amp.GradScaler().is_enabled()
    False
    """

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warnings.warn(
            "`torch.cuda.amp.GradScaler(args...)` is deprecated. Please use `torch.amp.GradScaler('cuda', args...)` "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


adopt(globals())
