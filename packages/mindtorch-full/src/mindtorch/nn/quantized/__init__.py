"""The older home of `torch.ao.nn.quantized`."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized import FloatFunctional

__all__ = ["FloatFunctional"]

adopt(globals())
