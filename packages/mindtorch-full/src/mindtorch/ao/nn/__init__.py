"""`torch.ao.nn`."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn import quantized
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]

__getattr__ = _submodules(__name__, __all__, torch_name(__name__))
adopt(globals())
