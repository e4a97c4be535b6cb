"""`torch._refs.special`: special functions."""

import mindtorch as torch
from mindtorch._refs._bind import bind
from mindtorch._refs._names import SPECIAL

__all__ = bind(globals(), SPECIAL, torch.special, torch)
