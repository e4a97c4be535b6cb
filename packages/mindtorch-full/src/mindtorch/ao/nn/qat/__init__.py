"""Layers that are trained with rounded weights."""

from mindtorch._naming import adopt, torch_name
from mindtorch.ao.nn.qat.modules import Conv1d, Conv2d, Conv3d, Embedding, EmbeddingBag, Linear
from mindtorch_storage.lazy_import import submodules as _submodules

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear"]

__getattr__ = _submodules(__name__, ["dynamic"], torch_name(__name__))
adopt(globals())
