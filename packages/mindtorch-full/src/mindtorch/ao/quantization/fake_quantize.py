"""Modules that round numbers as a quantized model would, while it is trained with numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.quantization.observer import (
    FixedQParamsObserver,
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    _with_args,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from mindtorch.ao.quantization.utils import is_per_channel as _is_per_channel
from mindtorch.ao.quantization.utils import is_per_tensor as _is_per_tensor
from mindtorch.nn import Module

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant",
    "default_dynamic_fake_quant",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_histogram_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]


def _is_symmetric_quant(qscheme: Any) -> bool:
    return qscheme in (torch.per_tensor_symmetric, torch.per_channel_symmetric)


def _is_float_qparams(qscheme: Any) -> bool:
    return bool(qscheme == torch.per_channel_affine_float_qparams)


class FakeQuantizeBase(ABC, Module):
    """A module that observes and rounds; both can be switched.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> isinstance(fake, quantization.FakeQuantizeBase), fake.fake_quant_enabled
    (True, tensor([1], dtype=torch.uint8))
    """

    fake_quant_enabled: Any
    observer_enabled: Any

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.uint8))

    @abstractmethod
    def forward(self, x: Tensor) -> Any:
        """Return `x` rounded."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """Return scale and zero point."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Round from now on, or not."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self) -> None:
        """Round no more."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Observe from now on, or not."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self) -> None:
        """Observe no more."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs: Any) -> Any:
        """Return what makes instances with some arguments given."""
        made = _with_args(cls, **kwargs)
        made.__module__ = "torch.ao.quantization.fake_quantize"
        return made


def _checked_range(observer: Any, quant_min: int, quant_max: int, observer_kwargs: dict[str, Any]) -> None:
    if quant_min > quant_max:
        raise AssertionError("quant_min must be less than or equal to quant_max")
    dtype = observer_kwargs.get("dtype", torch.quint8)
    if hasattr(observer, "p"):
        dtype = getattr(observer.p, "keywords", {}).get("dtype", dtype)
    if torch.iinfo(dtype).min > quant_min:
        raise AssertionError("quant_min out of bound")
    if quant_max > torch.iinfo(dtype).max:
        raise AssertionError("quant_max out of bound")


class FakeQuantize(FakeQuantizeBase):
    """Rounds to the steps that an observer finds.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> fake(torch.tensor([0.0, 0.3, 2.55]))
    tensor([0.0000, 0.3000, 2.5500])
    """

    scale: Any
    zero_point: Any

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            _checked_range(observer, quant_min, quant_max, observer_kwargs)
            observer_kwargs.update({"quant_min": quant_min, "quant_max": quant_max})
        observer_kwargs["is_dynamic"] = is_dynamic
        self.activation_post_process = made = observer(**observer_kwargs)
        self.quant_min, self.quant_max, self.is_dynamic = made.quant_min, made.quant_max, made.is_dynamic
        kind = torch.float if _is_float_qparams(made.qscheme) else torch.int
        self.register_buffer("scale", torch.tensor([1.0], dtype=torch.float))
        self.register_buffer("zero_point", torch.tensor([0], dtype=kind))
        self.dtype, self.qscheme = made.dtype, made.qscheme
        self.ch_axis = getattr(made, "ch_axis", -1)
        if not (_is_per_channel(self.qscheme) or _is_per_tensor(self.qscheme)):
            raise AssertionError(
                "Only per channel and per tensor quantization are supported in fake quantize got qscheme: "
                + str(self.qscheme)
            )
        self.is_per_channel = _is_per_channel(self.qscheme)

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Return scale and zero point."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Any:
        """Observe `X`, and return it rounded."""
        if self.observer_enabled[0] == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = self.calculate_qparams()
            if self.scale.shape != scale.shape:
                self.scale.resize_(scale.shape)
                self.zero_point.resize_(zero_point.shape)
            self.scale.copy_(scale.to(self.scale.device))
            self.zero_point.copy_(zero_point.to(self.zero_point.device))
        if self.fake_quant_enabled[0] == 1:
            bounds = self.activation_post_process.quant_min, self.activation_post_process.quant_max
            if self.is_per_channel:
                return torch.fake_quantize_per_channel_affine(X, self.scale, self.zero_point, self.ch_axis, *bounds)
            return torch.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, *bounds)
        return X

    def extra_repr(self) -> str:
        """What is on, the range, and the steps."""
        observer = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={observer.quant_min}, quant_max={observer.quant_max}, dtype={self.dtype}, "
            f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = self.scale
        destination[prefix + "zero_point"] = self.zero_point

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, *rest: Any
    ) -> None:
        for name in ("scale", "zero_point"):
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
            elif strict:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *rest)


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounds to steps that are known before.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.default_fixed_qparams_range_0to1_fake_quant()
    >>> fake(torch.tensor([0.5, 2.0]))
    tensor([0.5000, 0.9961])
    """

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        if type(self.activation_post_process) is not FixedQParamsObserver:
            raise AssertionError(f"{self.__class__.__name__}'s observer must be a {FixedQParamsObserver.__name__}")
        self._observer_ctr = observer
        self.scale = self.activation_post_process.scale
        self.zero_point = self.activation_post_process.zero_point
        if not _is_per_tensor(self.qscheme):
            raise AssertionError(
                "Only per tensor quantization is supported FixedQParamsFakeQuantize module, got qscheme:"
                + str(self.qscheme)
            )

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Return scale and zero point."""
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        """What is on, the steps, and the range."""
        observer = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={observer.quant_min}, "
            f"quant_max={observer.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """Observes moving averages and rounds, by one operator.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FusedMovingAvgObsFakeQuantize()
    >>> fake(torch.tensor([0.0, 0.3, 2.55]))
    tensor([0.0000, 0.3000, 2.5500])
    """

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        if not isinstance(
            self.activation_post_process, (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)
        ):
            raise AssertionError("Fused observer+fake_quant module only works with MovingAverageMinMaxObserver")
        self.register_buffer("fake_quant_enabled", torch.tensor([1], dtype=torch.long))
        self.register_buffer("observer_enabled", torch.tensor([1], dtype=torch.long))
        self.is_symmetric_quant = _is_symmetric_quant(self.activation_post_process.qscheme)

    def calculate_qparams(self) -> Any:  # type: ignore[override]
        """Return scale and zero point."""
        return self.activation_post_process.calculate_qparams()

    def extra_repr(self) -> str:
        """What is on, the steps, and the range."""
        observer = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, quant_min={observer.quant_min}, "
            f"quant_max={observer.quant_max}, qscheme={self.qscheme}, reduce_range={observer.reduce_range}"
        )

    def forward(self, X: Tensor) -> Any:
        """Observe `X`, and return it rounded."""
        observer = self.activation_post_process
        return torch.fused_moving_avg_obs_fake_quant(
            X,
            self.observer_enabled,
            self.fake_quant_enabled,
            observer.min_val,
            observer.max_val,
            self.scale,
            self.zero_point,
            observer.averaging_constant,
            observer.quant_min,
            observer.quant_max,
            self.ch_axis,
            self.is_per_channel,
            self.is_symmetric_quant,
        )


_ACTIVATION: dict[str, Any] = {"quant_min": 0, "quant_max": 255, "dtype": torch.quint8}
_WEIGHT: dict[str, Any] = {"quant_min": -128, "quant_max": 127, "dtype": torch.qint8}
_NARROW: dict[str, Any] = {"quant_min": -127, "quant_max": 127, "dtype": torch.qint8, "eps": 2**-12}
_ALL: dict[str, Any] = {"observer": MovingAverageMinMaxObserver}
_EACH: dict[str, Any] = {"observer": MovingAveragePerChannelMinMaxObserver}
_SYMMETRIC, _BY_CHANNEL = torch.per_tensor_symmetric, torch.per_channel_symmetric
_AFFINE, _EMBEDDING = torch.per_tensor_affine, torch.per_channel_affine_float_qparams
_Fused = FusedMovingAvgObsFakeQuantize

default_fake_quant = FakeQuantize.with_args(**_ALL, **_ACTIVATION, qscheme=_AFFINE, reduce_range=True)
default_weight_fake_quant = FakeQuantize.with_args(**_ALL, **_WEIGHT, qscheme=_SYMMETRIC, reduce_range=False)
default_dynamic_fake_quant = FakeQuantize.with_args(
    **_ALL, quant_min=0, quant_max=255, is_dynamic=True, dtype=torch.quint8, averaging_constant=1
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    **_EACH, **_WEIGHT, qscheme=_BY_CHANNEL, reduce_range=False, ch_axis=0
)
default_embedding_fake_quant = FakeQuantize.with_args(
    **_EACH, qscheme=_EMBEDDING, dtype=torch.quint8, quant_min=0, quant_max=255, ch_axis=0, averaging_constant=1
)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    **_EACH, qscheme=_EMBEDDING, ch_axis=0, dtype=torch.quint4x2, averaging_constant=1
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver, **_ACTIVATION, qscheme=_AFFINE, reduce_range=True
)
default_fused_act_fake_quant = _Fused.with_args(**_ALL, **_ACTIVATION)
default_fused_wt_fake_quant = _Fused.with_args(**_ALL, **_WEIGHT, qscheme=_SYMMETRIC)
default_fused_per_channel_wt_fake_quant = _Fused.with_args(**_EACH, **_WEIGHT, qscheme=_BY_CHANNEL)
fused_wt_fake_quant_range_neg_127_to_127 = _Fused.with_args(**_ALL, **_NARROW, qscheme=_SYMMETRIC)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = _Fused.with_args(**_EACH, **_NARROW, qscheme=_BY_CHANNEL)


def disable_fake_quant(mod: Any) -> None:
    """Let a module round no more: `model.apply(disable_fake_quant)`.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> _ = fake.apply(quantization.disable_fake_quant)
    >>> fake.fake_quant_enabled
    tensor([0], dtype=torch.uint8)
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_fake_quant()


def enable_fake_quant(mod: Any) -> None:
    """Let a module round.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> _ = fake.apply(quantization.enable_fake_quant)
    >>> fake.fake_quant_enabled
    tensor([1], dtype=torch.uint8)
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_fake_quant()


def disable_observer(mod: Any) -> None:
    """Let a module observe no more.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> _ = fake.apply(quantization.disable_observer)
    >>> fake.observer_enabled
    tensor([0], dtype=torch.uint8)
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.disable_observer()


def enable_observer(mod: Any) -> None:
    """Let a module observe.

    >>> import torch.ao.quantization as quantization
    >>> fake = quantization.FakeQuantize()
    >>> _ = fake.apply(quantization.enable_observer)
    >>> fake.observer_enabled
    tensor([1], dtype=torch.uint8)
    """
    if isinstance(mod, FakeQuantizeBase):
        mod.enable_observer()


adopt(globals())
