"""Modules that follow each other become one, so that what is between them is not rounded."""

from __future__ import annotations

import copy
from typing import Any

from mindtorch._naming import adopt
from mindtorch.ao.quantization.fuser_method_mappings import fuse_conv_bn as fuse_conv_bn
from mindtorch.ao.quantization.fuser_method_mappings import fuse_conv_bn_relu as fuse_conv_bn_relu
from mindtorch.ao.quantization.fuser_method_mappings import get_fuser_method
from mindtorch.nn import Identity
from mindtorch.nn.utils.parametrize import type_before_parametrizations

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]


def _get_module(model: Any, submodule_key: str) -> Any:
    for name in submodule_key.split("."):
        model = getattr(model, name)
    return model


def _set_module(model: Any, submodule_key: str, module: Any) -> None:
    parent, _, name = submodule_key.rpartition(".")
    setattr(_get_module(model, parent) if parent else model, name, module)


def fuse_known_modules(mod_list: Any, is_qat: bool, additional_fuser_method_mapping: Any = None) -> list[Any]:
    """Return the module that stands for several, and as many others that do nothing as stood behind it."""
    types = tuple(type_before_parametrizations(one) for one in mod_list)
    fused = get_fuser_method(types, additional_fuser_method_mapping)(is_qat, *mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    made = [fused]
    for _ in mod_list[1:]:
        identity = Identity()
        identity.training = mod_list[0].training
        made.append(identity)
    return made


def _fuse_one(model: Any, names: Any, is_qat: bool, fuser_func: Any, config: Any) -> None:
    mapping = (config or {}).get("additional_fuser_method_mapping", {})
    made = fuser_func([_get_module(model, name) for name in names], is_qat, mapping)
    for place, name in enumerate(names):
        _set_module(model, name, made[place])


def _fuse_modules(
    model: Any,
    modules_to_fuse: Any,
    is_qat: bool,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    if not inplace:
        model = copy.deepcopy(model)
    single = all(isinstance(one, str) for one in modules_to_fuse)
    for names in [modules_to_fuse] if single else modules_to_fuse:
        _fuse_one(model, names, is_qat, fuser_func, fuse_custom_config_dict)
    return model


def fuse_modules(
    model: Any,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    """Return a model in which the modules of each list of names are one; the others of the list become `nn.Identity`.

    Known are convolution, normalization and ReLU, linear layer and normalization or ReLU, normalization and ReLU.

    >>> import torch.ao.quantization as quantization
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.ReLU()).eval()
    >>> [type(layer).__name__ for layer in quantization.fuse_modules(model, [["0", "1", "2"]])]
    ['ConvReLU2d', 'Identity', 'Identity']
    """
    return _fuse_modules(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(
    model: Any,
    modules_to_fuse: Any,
    inplace: bool = False,
    fuser_func: Any = fuse_known_modules,
    fuse_custom_config_dict: Any = None,
) -> Any:
    """As `fuse_modules`, for a model that is trained with rounding.

    >>> import torch.ao.quantization as quantization
    >>> model = torch.nn.Sequential(torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.ReLU()).eval()
    >>> [type(layer).__name__ for layer in quantization.fuse_modules_qat(model.train(), [["0", "1", "2"]])]
    ['ConvBnReLU2d', 'Identity', 'Identity']
    """
    return _fuse_modules(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)


adopt(globals())
