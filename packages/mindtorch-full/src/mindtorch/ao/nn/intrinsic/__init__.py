"""Modules that follow each other, as one: with numbers, in training with rounding (`qat`), with integers (`quantized`)."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.intrinsic.modules import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.intrinsic.modules import __all__ as __all__
from mindtorch.ao.nn.intrinsic.modules import _FusedModule as _FusedModule
from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, ("qat", "quantized"), torch_name(__name__))
adopt(globals())
