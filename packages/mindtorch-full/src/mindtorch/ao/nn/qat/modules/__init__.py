"""Layers that are trained with rounded weights."""

from mindtorch._naming import adopt
from mindtorch.ao.nn.qat.modules.conv import Conv1d, Conv2d, Conv3d
from mindtorch.ao.nn.qat.modules.embedding_ops import Embedding, EmbeddingBag
from mindtorch.ao.nn.qat.modules.linear import Linear

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear"]

adopt(globals())
