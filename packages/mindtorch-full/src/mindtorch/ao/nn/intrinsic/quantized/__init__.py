"""Fused modules of integers."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.intrinsic.quantized.modules import (
    BNReLU2d,
    BNReLU3d,
    ConvReLU1d,
    ConvReLU2d,
    ConvReLU3d,
    LinearReLU,
)
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = ["BNReLU2d", "BNReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU"]

__getattr__ = _submodules(__name__, ["dynamic"], torch_name(__name__))
adopt(globals())
