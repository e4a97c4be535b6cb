"""The modules of `torch.ao.nn.quantized`."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.modules.functional_modules import FloatFunctional

__all__ = ["FloatFunctional"]

adopt(globals())
