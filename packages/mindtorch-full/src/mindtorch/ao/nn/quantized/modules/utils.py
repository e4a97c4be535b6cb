"""What quantized layers have in common: weights from observers, and a representation without what is packed."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import Module

__all__ = ["WeightedQuantizedModule"]


class WeightedQuantizedModule(Module, metaclass=abc.ABCMeta):
    """A quantized layer with a weight.

    >>> from torch.ao.nn.quantized.modules.utils import WeightedQuantizedModule
    >>> issubclass(torch.ao.nn.quantized.Linear, WeightedQuantizedModule)
    True
    """

    @classmethod
    @abc.abstractmethod
    def from_reference(cls, ref_module: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the layer for one that dequantizes its weight."""
        raise NotImplementedError


def _get_weight_observer(observer: Any) -> Any:
    return getattr(observer, "activation_post_process", observer)


def _needs_weight_clamping(observer: Any, dtype: Any) -> bool:
    observer = _get_weight_observer(observer)
    if dtype not in (torch.qint8, torch.quint8, torch.qint32):
        return False
    info = torch.iinfo(dtype)
    return bool(observer.quant_min > info.min or observer.quant_max < info.max)


def _clamp_weights(qweight: Any, observer: Any, scale: Any, zp: Any) -> Any:
    """Return a weight whose integers are in the range of its observer, which may be narrower than that of the dtype."""
    if not _needs_weight_clamping(observer, qweight.dtype):
        return qweight
    observer = _get_weight_observer(observer)
    whole = qweight.int_repr().clamp(observer.quant_min, observer.quant_max)
    if observer.qscheme in (torch.per_tensor_symmetric, torch.per_tensor_affine):
        return torch._make_per_tensor_quantized_tensor(whole, scale.item(), zp.item())
    return torch._make_per_channel_quantized_tensor(whole, scale, zp, axis=observer.ch_axis)


def _quantize_weight(float_wt: Any, observer: Any) -> Any:
    """Return a weight of integers, as an observer that saw the numbers says."""
    scale, zero_point = observer.calculate_qparams()
    float_wt = float_wt.detach()
    if observer.qscheme in (torch.per_tensor_symmetric, torch.per_tensor_affine):
        made = torch.quantize_per_tensor(float_wt, float(scale), int(zero_point), torch.qint8)
    elif observer.qscheme in (torch.per_channel_symmetric, torch.per_channel_affine):
        made = torch.quantize_per_channel(
            float_wt, scale.to(torch.double), zero_point.to(torch.int64), observer.ch_axis, torch.qint8
        )
    elif observer.qscheme == torch.per_channel_affine_float_qparams:
        made = torch.quantize_per_channel(
            float_wt, scale.to(torch.float), zero_point.to(torch.float), observer.ch_axis, observer.dtype
        )
    else:
        raise ValueError("Unexpected qscheme " + observer.qscheme)
    return _clamp_weights(made, observer, scale, zero_point)


def _ntuple_from_first(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """Return what makes `n` of the first element."""

    def parse(x: Tensor) -> tuple[Any, ...]:
        while isinstance(x, Sequence) and len(x) != n:
            x = x[0]
        return tuple(x) if isinstance(x, Sequence) else (x,) * n

    return parse


def _hide_packed_params_repr(self: Any, params: Any) -> str:
    """Return the representation of a module without its children of a type."""
    extra = self.extra_repr()
    lines = extra.split("\n") if extra else []
    children = [
        f"({name}): " + repr(child).replace("\n", "\n  ")
        for name, child in self._modules.items()
        if not isinstance(child, params)
    ]
    if len(lines) == 1 and not children:
        return f"{self._get_name()}({lines[0]})"
    inner = "\n  ".join(lines + children)
    return f"{self._get_name()}(" + (f"\n  {inner}\n)" if inner else ")")


_pair_from_first = _ntuple_from_first(2)

adopt(globals())
