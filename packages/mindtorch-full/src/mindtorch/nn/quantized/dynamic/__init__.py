"""The older home of `torch.ao.nn.quantized.dynamic`."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic import Linear

__all__ = ["Linear"]

adopt(globals())
