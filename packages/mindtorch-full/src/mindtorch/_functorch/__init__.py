"""`torch._functorch`: parts of `vmap` that other libraries build their own with."""

from mindtorch._functorch import vmap
from mindtorch._naming import adopt

__all__ = ["vmap"]

adopt(globals())
