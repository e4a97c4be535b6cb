"""The older home of `torch.ao.nn.quantized`."""

import mindtorch.ao.nn.quantized as _newer
from mindtorch._naming import missing_attribute

__all__ = list(_newer.__all__)

globals().update((name, getattr(_newer, name)) for name in __all__)
__getattr__ = missing_attribute(__name__)
