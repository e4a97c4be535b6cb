"""Modules with quantized weights, one a file."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic.modules.linear import Linear

__all__ = ["Linear"]

adopt(globals())
