"""Modules that a floating-point model uses so that it could be quantized."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized import dynamic as dynamic
from mindtorch.ao.nn.quantized import modules as modules
from mindtorch.ao.nn.quantized.modules import FloatFunctional
from mindtorch.nn import MaxPool2d as MaxPool2d

__all__ = ["FloatFunctional"]

adopt(globals())
