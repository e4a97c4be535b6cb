"""The layers of a quantized model, and where it begins and ends."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.modules._stubs import DeQuantize, Quantize
from mindtorch.ao.nn.quantized.modules.activation import (
    ELU,
    Hardswish,
    LeakyReLU,
    PReLU,
    ReLU6,
    Sigmoid,
    Softmax,
)
from mindtorch.ao.nn.quantized.modules.batchnorm import BatchNorm2d, BatchNorm3d
from mindtorch.ao.nn.quantized.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from mindtorch.ao.nn.quantized.modules.dropout import Dropout
from mindtorch.ao.nn.quantized.modules.embedding_ops import Embedding, EmbeddingBag
from mindtorch.ao.nn.quantized.modules.functional_modules import FloatFunctional, FXFloatFunctional, QFunctional
from mindtorch.ao.nn.quantized.modules.linear import Linear
from mindtorch.ao.nn.quantized.modules.normalization import (
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
)
from mindtorch.nn import MaxPool2d as MaxPool2d

__all__ = [
    "ELU",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "DeQuantize",
    "Dropout",
    "Embedding",
    "EmbeddingBag",
    "FXFloatFunctional",
    "FloatFunctional",
    "GroupNorm",
    "Hardswish",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "PReLU",
    "QFunctional",
    "Quantize",
    "ReLU6",
    "Sigmoid",
    "Softmax",
]

adopt(globals())
