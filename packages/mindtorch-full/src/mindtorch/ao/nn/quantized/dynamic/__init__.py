"""Modules with quantized weights, whose inputs are quantized by what they hold."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic import modules as modules
from mindtorch.ao.nn.quantized.dynamic.modules import Linear

__all__ = ["Linear"]

adopt(globals())
