"""`torch._functorch`: parts of `vmap` that other libraries build their own with."""

from mindtorch._functorch import autograd_function, config, vmap
from mindtorch._naming import adopt

__all__ = ["autograd_function", "config", "vmap"]

adopt(globals())
