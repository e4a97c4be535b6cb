"""Modules that follow each other, as one."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.intrinsic.modules.fused import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.intrinsic.modules.fused import __all__ as __all__
from mindtorch.ao.nn.intrinsic.modules.fused import _FusedModule as _FusedModule

adopt(globals())
