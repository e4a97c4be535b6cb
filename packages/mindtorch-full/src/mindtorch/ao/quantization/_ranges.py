"""Observers of the least and the greatest value: ever, as a moving average, of all or of each channel."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.quantization._observer_base import _EPS, UniformQuantizationObserverBase
from mindtorch.ao.quantization.utils import is_per_channel, is_per_tensor

_CHANNELS = (
    "{}'s qscheme only support                     torch.per_channel_symmetric, torch.per_channel_affine and "
    "torch.per_channel_affine_float_qparams."
)


def _in_place(buffer: Any, value: Any) -> None:
    buffer.resize_(value.shape)
    buffer.copy_(value)


class RangeObserver(UniformQuantizationObserverBase):
    """An observer that keeps the least and the greatest value, of all or of each channel."""

    min_val: Any
    max_val: Any

    def calculate_qparams(self) -> tuple[Any, Any]:  # type: ignore[override]
        """Return scales and zero points of the ranges."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def extra_repr(self) -> str:
        """The ranges."""
        return f"min_val={self.min_val}, max_val={self.max_val}"


class MinMaxObserver(RangeObserver):
    """The least and the greatest value that ever passed.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> observer = quantization.MinMaxObserver()
    >>> _ = observer(x)
    >>> observer.calculate_qparams()
    (tensor([0.0157]), tensor([64], dtype=torch.int32))
    """

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
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MinMaxObserver's qscheme only support torch.per_tensor_symmetric                     "
                "and torch.per_tensor_affine."
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        factory_kwargs = torch.nn.factory_kwargs(factory_kwargs)
        self.register_buffer("min_val", torch.tensor(float("inf"), **factory_kwargs))
        self.register_buffer("max_val", torch.tensor(float("-inf"), **factory_kwargs))
        if self.qscheme == torch.per_tensor_symmetric and self.reduce_range and self.dtype == torch.quint8:
            raise NotImplementedError(
                "Cannot reduce range for symmetric                                        quantization for quint8"
            )

    def forward(self, x_orig: Tensor) -> Any:
        """Take the range of `x_orig` in, and return it."""
        if x_orig.numel() == 0:
            return x_orig
        low, high = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
        self.min_val.copy_(torch.min(low, self.min_val))
        self.max_val.copy_(torch.max(high, self.max_val))
        return x_orig

    def reset_min_max_vals(self) -> None:
        """Forget the range."""
        self.min_val.copy_(torch.tensor(float("inf")))
        self.max_val.copy_(torch.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """The moving averages of the least and of the greatest value.

    >>> import torch.ao.quantization as quantization
    >>> x = torch.tensor([-1.0, 0.0, 3.0])
    >>> observer = quantization.MovingAverageMinMaxObserver()
    >>> _ = observer(x)
    >>> observer.calculate_qparams()
    (tensor([0.0157]), tensor([64], dtype=torch.int32))
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_tensor(qscheme):
            raise NotImplementedError(
                "MovingAverageMinMaxObserver's qscheme only support                 torch.per_tensor_symmetric and "
                f"torch.per_tensor_affine.                 but got: {qscheme}"
            )
        self.averaging_constant = averaging_constant
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                "MovingAverageMinMaxObserver doesn't support dynamic quantization for averaging constant of "
                f"{averaging_constant}"
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )

    def forward(self, x_orig: Tensor) -> Any:
        """Take the range of `x_orig` in, and return it."""
        if x_orig.numel() == 0:
            return x_orig
        low, high = torch.aminmax(x_orig.detach().to(self.min_val.dtype))
        if self.min_val != float("inf") or self.max_val != float("-inf"):
            low = self.min_val + self.averaging_constant * (low - self.min_val)
            high = self.max_val + self.averaging_constant * (high - self.max_val)
        self.min_val.copy_(low)
        self.max_val.copy_(high)
        return x_orig


class PerChannelMinMaxObserver(RangeObserver):
    """The least and the greatest value of each channel that ever passed.

    >>> import torch.ao.quantization as quantization
    >>> observer = quantization.PerChannelMinMaxObserver(ch_axis=0)
    >>> _ = observer(torch.tensor([[-1.0, 1.0], [0.0, 4.0]]))
    >>> observer.calculate_qparams()
    (tensor([0.0078, 0.0157]), tensor([127,   0], dtype=torch.int32))
    """

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: Any = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_channel(qscheme):
            raise NotImplementedError(_CHANNELS.format("PerChannelMinMaxObserver"))
        if is_dynamic:
            raise NotImplementedError("PerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        factory_kwargs = torch.nn.factory_kwargs(factory_kwargs)
        self.ch_axis = ch_axis
        self.register_buffer("min_val", torch.tensor([], **factory_kwargs))
        self.register_buffer("max_val", torch.tensor([], **factory_kwargs))
        if self.qscheme == torch.per_channel_symmetric and self.reduce_range and self.dtype == torch.quint8:
            raise NotImplementedError("Cannot reduce range for symmetric quantization for quint8")

    def _bounds(self, x_orig: Tensor) -> tuple[Any, Any]:
        """Return the least and the greatest value of each channel."""
        order = list(range(x_orig.dim()))
        order[self.ch_axis], order[0] = 0, self.ch_axis
        rows = x_orig.detach().permute(order).to(self.min_val.dtype).flatten(start_dim=1)
        low, high = torch.aminmax(rows, dim=1)
        return low, high

    def _merged(self, low: Any, high: Any) -> tuple[Any, Any]:
        return torch.min(low, self.min_val), torch.max(high, self.max_val)

    def forward(self, x_orig: Tensor) -> Any:
        """Take the ranges of `x_orig` in, and return it."""
        return self._forward(x_orig)

    def _forward(self, x_orig: Tensor) -> Any:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self._bounds(x_orig)
        if self.min_val.numel() and self.max_val.numel():
            low, high = self._merged(low, high)
        _in_place(self.min_val, low)
        _in_place(self.max_val, high)
        return x_orig

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, *rest: Any
    ) -> None:
        version = local_metadata.get("version")
        old = version is not None and version < 3
        for name in ("min_val", "max_val"):
            key = prefix + name + "s" * old
            if key in state_dict:
                getattr(self, name).resize_(state_dict[key].shape)
            elif strict:
                missing_keys.append(key)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, missing_keys, *rest)

    def reset_min_max_vals(self) -> None:
        """Forget the ranges."""
        self.min_val = torch.rand(0)
        self.max_val = torch.rand(0)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """The moving averages of the least and of the greatest value of each channel.

    >>> import torch.ao.quantization as quantization
    >>> observer = quantization.MovingAveragePerChannelMinMaxObserver(ch_axis=0)
    >>> _ = observer(torch.tensor([[-1.0, 1.0], [0.0, 4.0]]))
    >>> observer.calculate_qparams()
    (tensor([0.0078, 0.0157]), tensor([127,   0], dtype=torch.int32))
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        ch_axis: int = 0,
        dtype: Any = torch.quint8,
        qscheme: Any = torch.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_channel(qscheme):
            raise NotImplementedError(_CHANNELS.format("MovingAveragePerChannelMinMaxObserver"))
        if is_dynamic:
            raise NotImplementedError("MovingAveragePerChannelMinMaxObserver doesn't support dynamic quantization")
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def _merged(self, low: Any, high: Any) -> tuple[Any, Any]:
        share = self.averaging_constant
        return self.min_val + share * (low - self.min_val), self.max_val + share * (high - self.max_val)


adopt(globals(), "torch.ao.quantization.observer")
