"""Fused modules that are trained with rounded weights."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.intrinsic.qat.modules.conv_fused import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.intrinsic.qat.modules.conv_fused import __all__ as _of_convolutions
from mindtorch.ao.nn.intrinsic.qat.modules.linear_fused import LinearBn1d
from mindtorch.ao.nn.intrinsic.qat.modules.linear_relu import LinearReLU

__all__ = ["LinearBn1d", "LinearReLU", *_of_convolutions]

adopt(globals())
