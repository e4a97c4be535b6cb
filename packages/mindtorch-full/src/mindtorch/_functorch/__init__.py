"""`torch._functorch`: parts of `vmap` that other libraries build their own with."""

from mindtorch._naming import adopt

adopt(globals())
