"""The layers of a quantized model: with inputs quantized before (`modules`), as they come (`dynamic`), as functions."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.quantized.modules import *  # noqa: F403 - the names of its __all__
from mindtorch.ao.nn.quantized.modules import MaxPool2d as MaxPool2d
from mindtorch.ao.nn.quantized.modules import __all__ as __all__
from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, ("dynamic", "functional", "reference"), torch_name(__name__))
adopt(globals())
