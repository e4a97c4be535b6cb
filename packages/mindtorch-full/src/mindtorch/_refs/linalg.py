"""`torch._refs.linalg`: linear algebra."""

import mindtorch as torch
from mindtorch._refs._bind import bind
from mindtorch._refs._names import LINALG

__all__ = bind(globals(), LINALG, torch.linalg, torch)
