"""The older home of `torch.ao.nn.quantized.dynamic.modules`."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic.modules import Linear

__all__ = ["Linear"]

adopt(globals())
