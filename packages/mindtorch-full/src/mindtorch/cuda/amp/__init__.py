"""`torch.cuda.amp`: old names of `torch.amp` for CUDA."""

from mindtorch._naming import adopt
from mindtorch.cuda.amp.autocast_mode import autocast, custom_bwd, custom_fwd
from mindtorch.cuda.amp.common import amp_definitely_not_available
from mindtorch.cuda.amp.grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]

adopt(globals())
