"""What observers have in common: making them with arguments, and from least and greatest values to scale and zero point."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from functools import partial
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.quantization.utils import calculate_qmin_qmax, check_min_max_valid, validate_qmin_qmax
from mindtorch.nn import Module

_SCHEMES = (
    torch.per_tensor_affine,
    torch.per_tensor_symmetric,
    torch.per_channel_affine,
    torch.per_channel_symmetric,
    torch.per_channel_affine_float_qparams,
)
_DTYPES = (
    torch.qint8,
    torch.quint8,
    torch.quint4x2,
    torch.qint32,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.float8_e5m2,
    torch.float8_e4m3fn,
    torch.uint16,
)
_EPS = torch.finfo(torch.float32).eps


class _PartialWrapper:
    """A class with some of its arguments; others are made when it is called."""

    def __init__(self, p: Any) -> None:
        self.p = p
        self.callable_args: dict[str, Any] = {}

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        made = {name: make() for name, make in self.callable_args.items() if name not in keywords}
        return self.p(*args, **{**keywords, **made})

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        """Return this with further arguments."""
        return _with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Any) -> _PartialWrapper:
        """Return this with further arguments, which are made by calling what is given."""
        result = _PartialWrapper(p=self.p)
        result.callable_args = {**self.callable_args, **kwargs}
        return result


def _with_args(cls_or_self: Any, **kwargs: Any) -> _PartialWrapper:
    """Return what makes instances with some arguments given."""
    return _PartialWrapper(partial(cls_or_self, **kwargs))


def _with_callable_args(cls_or_self: Any, **kwargs: Any) -> _PartialWrapper:
    """Return what makes instances with some arguments that are made by calling what is given."""
    return _PartialWrapper(partial(cls_or_self)).with_callable_args(**kwargs)


ABC: Any = ABCMeta("ABC", (object,), {})


class ObserverBase(ABC, Module):  # type: ignore[misc]
    """A module that looks at what passes, and says how to quantize it.

    >>> import torch.ao.quantization as quantization
    >>> isinstance(quantization.MinMaxObserver(), quantization.ObserverBase)
    True
    """

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Any:
        """Look at `x`, and return it."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Return scale and zero point."""

    with_args = classmethod(_with_args)
    with_callable_args = classmethod(_with_callable_args)


class UniformQuantizationObserverBase(ObserverBase):
    """An observer of ranges, which are cut into steps of equal width.

    >>> import torch.ao.quantization as quantization
    >>> observer = quantization.MinMaxObserver(dtype=torch.qint8)
    >>> isinstance(observer, quantization.UniformQuantizationObserverBase), observer.quant_min, observer.quant_max
    (True, -128, 127)
    """

    _version = 3

    def __init__(
        self,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: Any = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        factory_kwargs = torch.nn.factory_kwargs(factory_kwargs)
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        self.qscheme = qscheme
        if reduce_range:
            warnings.warn(
                "Please use quant_min and quant_max to specify the range for observers.                     "
                "reduce_range will be deprecated in a future release of PyTorch.",
                stacklevel=2,
            )
        self.reduce_range = reduce_range
        self.register_buffer("eps", torch.tensor([eps], **factory_kwargs))
        if self.qscheme not in _SCHEMES:
            raise AssertionError(
                "Default Observer only works for per_tensor_affine, per_tensor_symmetric, "
                "per_channel_affine, per_channel_symmetric and per_channel_float_qparams quantization scheme"
            )
        if self.dtype not in _DTYPES:
            raise AssertionError(f"Default Observer only works for {_DTYPES} data type")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if quant_min is not None and quant_max is not None:
            validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = calculate_qmin_qmax(
            quant_min, quant_max, self.has_customized_qrange, self.dtype, self.reduce_range
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        if local_metadata.get("version") in (None, 1):
            state_dict[prefix + "eps"] = torch.tensor([_EPS])
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _validate_qmin_qmax(self, quant_min: int, quant_max: int) -> None:
        validate_qmin_qmax(quant_min, quant_max)

    def _calculate_qparams(self, min_val: Any, max_val: Any) -> tuple[Any, Any]:
        """Return the scales and zero points of ranges."""
        if not check_min_max_valid(min_val, max_val):
            device = min_val.device.type
            return torch.tensor([1.0], device=device), torch.tensor([0], device=device)
        low = torch.min(min_val, torch.zeros_like(min_val))
        high = torch.max(max_val, torch.zeros_like(max_val))
        if self.qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric):
            scale, zero_point = self._symmetric(low, high)
        elif self.qscheme == torch.per_channel_affine_float_qparams:
            scale = (max_val - min_val) / float(self.quant_max - self.quant_min)
            scale = torch.where(scale > self.eps, scale, torch.ones_like(scale))
            zero_point = -1 * min_val / scale
        else:
            scale = torch.max((high - low) / float(self.quant_max - self.quant_min), self.eps)
            zero_point = self.quant_min - torch.round(low / scale).to(torch.int)
            zero_point = torch.clamp(zero_point, self.quant_min, self.quant_max)
        if scale.dim() == 0:
            scale = torch.tensor([float(scale)], dtype=scale.dtype, device=low.device)
        if zero_point.dim() == 0:
            whole = self.qscheme != torch.per_channel_affine_float_qparams
            value = int(zero_point) if whole else float(zero_point)
            zero_point = torch.tensor([value], dtype=zero_point.dtype, device=low.device)
        return scale, zero_point

    def _symmetric(self, low: Any, high: Any) -> tuple[Any, Any]:
        scale = torch.max(-low, high) / (float(self.quant_max - self.quant_min) / 2)
        scale = torch.max(scale, self.eps)
        zero_point = torch.zeros(low.size(), dtype=torch.int64, device=low.device)
        if self.dtype in (torch.quint8, torch.uint8):
            middle = (self.quant_min + self.quant_max) // 2 if self.has_customized_qrange else 128
            zero_point = zero_point.new_full(zero_point.size(), middle)
        elif self.dtype == torch.uint16:
            zero_point = zero_point.new_full(zero_point.size(), 2**15)
        return scale, zero_point

    def reset_min_max_vals(self) -> Any:
        """Forget what was seen."""
        raise NotImplementedError("Cannot reset min/max values in the given observer.")


adopt(globals(), "torch.ao.quantization.observer")
