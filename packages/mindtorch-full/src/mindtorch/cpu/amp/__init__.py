"""`torch.cpu.amp`: old names of `torch.amp` for the CPU."""

from mindtorch._naming import adopt
from mindtorch.cpu.amp.autocast_mode import autocast
from mindtorch.cpu.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]

adopt(globals())
