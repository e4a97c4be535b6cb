"""Modules that follow each other, as one: with numbers, in training with rounding (`qat`), with integers (`quantized`)."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.intrinsic.modules import (
    BNReLU2d,
    BNReLU3d,
    ConvAdd2d,
    ConvAddReLU2d,
    ConvBn1d,
    ConvBn2d,
    ConvBn3d,
    ConvBnReLU1d,
    ConvBnReLU2d,
    ConvBnReLU3d,
    ConvReLU1d,
    ConvReLU2d,
    ConvReLU3d,
    LinearBn1d,
    LinearLeakyReLU,
    LinearReLU,
    LinearTanh,
)
from mindtorch.ao.nn.intrinsic.modules import _FusedModule as _FusedModule
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]

__getattr__ = _submodules(__name__, ("qat", "quantized"), torch_name(__name__))
adopt(globals())
