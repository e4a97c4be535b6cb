"""Fused modules that are trained with rounded weights."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.intrinsic.qat.modules import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.intrinsic.qat.modules import __all__ as __all__

adopt(globals())
