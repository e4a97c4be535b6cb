"""Layers that are trained as those whose inputs are quantized as they come."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.qat.dynamic.modules import Linear

__all__ = ["Linear"]

adopt(globals())
