"""Modules that a floating-point model uses so that it could be quantized."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.modules import FloatFunctional

__all__ = ["FloatFunctional"]

adopt(globals())
