"""`torch._refs.nn.functional`: functions of neural networks."""

from mindtorch._refs._bind import bind
from mindtorch._refs._bind import functional as _ours
from mindtorch._refs._names import FUNCTIONAL

__all__ = bind(globals(), FUNCTIONAL, _ours)
