"""Fused modules whose inputs are quantized as they come."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.intrinsic.quantized.dynamic.modules.linear_relu import LinearReLU

__all__ = ["LinearReLU"]

adopt(globals())
