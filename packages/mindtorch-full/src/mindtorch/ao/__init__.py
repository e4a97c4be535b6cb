"""`torch.ao`: of quantization, the parts that a floating-point model is built with; nothing is quantized."""

from mindtorch._naming import torch_name
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = ["nn", "quantization"]


__getattr__ = _submodules(__name__, __all__, torch_name(__name__))
