"""`torch.ao.nn`."""

from mindtorch._naming import adopt
from mindtorch.ao.nn import quantized

__all__ = ["quantized"]

adopt(globals())
