"""Fused modules of integers."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.intrinsic.quantized.modules import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.intrinsic.quantized.modules import __all__ as __all__
from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, ["dynamic"], torch_name(__name__))
adopt(globals())
