"""`quantize_dynamic`: a copy of a model with the weights of its linear layers quantized."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.ao.nn.quantized.dynamic import Linear

__all__ = ["quantize_dynamic"]

_DEPRECATED = (
    "torch.ao.quantization is deprecated and will be removed in 2.10. \nFor migrations of users: \n1. Eager mode quantization "
    "(torch.ao.quantization.quantize, torch.ao.quantization.quantize_dynamic), please migrate to use torchao eager mode "
    "quantize_ API instead \n2. FX graph mode quantization (torch.ao.quantization.quantize_fx.prepare_fx,"
    "torch.ao.quantization.quantize_fx.convert_fx, please migrate to use torchao pt2e quantization API instead "
    "(prepare_pt2e, convert_pt2e) \n3. pt2e quantization has been migrated to torchao "
    "(https://github.com/pytorch/ao/tree/main/torchao/quantization/pt2e) \nsee "
    "https://github.com/pytorch/ao/issues/2259 for more details"
)
_RECURRENT = (torch.nn.RNNBase, torch.nn.RNNCellBase)


def quantize_dynamic(
    model: Any, qconfig_spec: Any = None, dtype: Any = torch.qint8, mapping: Any = None, inplace: bool = False
) -> Any:
    """Return a model whose `nn.Linear` layers have int8 weights; their inputs are quantized as they come.

    Args:
        qconfig_spec: types or names of layers; by default all `nn.Linear`.

    Raises:
        NotImplementedError: recurrent layers, another dtype than qint8, a mapping or configurations of layers.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(2, 3)))[0].weight().dtype
    torch.qint8
    """
    warnings.warn(_DEPRECATED, DeprecationWarning, stacklevel=2)
    if dtype is not torch.qint8 or mapping is not None or isinstance(qconfig_spec, dict):
        raise NotImplementedError(
            "torch.ao.quantization.quantize_dynamic: dtypes other than qint8, mappings and configurations are not offered"
        )
    wanted = {torch.nn.Linear, *_RECURRENT} if qconfig_spec is None else set(qconfig_spec)
    types = tuple(one for one in wanted if isinstance(one, type))
    names = {one for one in wanted if isinstance(one, str)}
    made = model if inplace else copy.deepcopy(model)
    made.eval()
    for path, module in list(made.named_modules()):
        chosen = isinstance(module, types) or path in names
        if chosen and isinstance(module, _RECURRENT):
            raise NotImplementedError("torch.ao.quantization.quantize_dynamic: recurrent layers are not offered")
        if path and chosen and type(module) is torch.nn.Linear:
            parent, _, name = path.rpartition(".")
            setattr(made.get_submodule(parent), name, Linear.from_float(module))
    return made


adopt(globals())
