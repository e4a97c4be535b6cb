"""Memory formats of convolution weights."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Module, kinds: tuple[type, ...], memory_format: Any) -> Module:
    if isinstance(module, kinds):
        weight = module.weight.detach().clone(memory_format=mindtorch.contiguous_format)
        module.weight.data = weight.resize_(weight.size(), memory_format=memory_format)
    for child in module.children():
        _convert(child, kinds, memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all 2-dimensional convolutions in ``module`` the memory format; return the module.

    >>> made = torch.nn.utils.convert_conv2d_weight_memory_format(torch.nn.Conv2d(2, 2, 3), torch.channels_last)
    >>> made.weight.is_contiguous(memory_format=torch.channels_last)
    True
    """
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Give the weights of all 3-dimensional convolutions in ``module`` the memory format; return the module.

    >>> made = torch.nn.utils.convert_conv3d_weight_memory_format(torch.nn.Conv3d(2, 2, 3), torch.channels_last_3d)
    >>> made.weight.is_contiguous(memory_format=torch.channels_last_3d)
    True
    """
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


adopt(globals())
