"""`torch.cpu.amp.GradScaler`: the old name of `torch.amp.GradScaler("cpu")`, which warns."""

from mindtorch._naming import adopt
from mindtorch.amp._former_scaler import FormerGradScaler

__all__ = ["GradScaler"]


class GradScaler(FormerGradScaler):
    """`torch.amp.GradScaler("cpu", ...)`."""

    _kind = "cpu"


adopt(globals())
