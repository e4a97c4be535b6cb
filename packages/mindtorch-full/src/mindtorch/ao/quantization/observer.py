"""Observers: modules that look at numbers that pass, and say how to quantize them; and the usual ones with their arguments."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.ao.quantization._histogram import HistogramObserver
from mindtorch.ao.quantization._observer_base import ABC as ABC
from mindtorch.ao.quantization._observer_base import (
    ObserverBase,
    UniformQuantizationObserverBase,
)
from mindtorch.ao.quantization._observer_base import (
    _PartialWrapper as _PartialWrapper,
)
from mindtorch.ao.quantization._observer_base import (
    _with_args as _with_args,
)
from mindtorch.ao.quantization._observer_base import (
    _with_callable_args as _with_callable_args,
)
from mindtorch.ao.quantization._placeholders import (
    FixedQParamsObserver,
    NoopObserver,
    PlaceholderObserver,
    RecordingObserver,
    ReuseInputObserver,
)
from mindtorch.ao.quantization._ranges import (
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)

__all__ = [
    "FixedQParamsObserver",
    "HistogramObserver",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "RecordingObserver",
    "ReuseInputObserver",
    "UniformQuantizationObserverBase",
    "default_affine_fixed_qparams_observer",
    "default_debug_observer",
    "default_dynamic_quant_observer",
    "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer",
    "default_float_qparams_observer_4bit",
    "default_histogram_observer",
    "default_observer",
    "default_per_channel_weight_observer",
    "default_placeholder_observer",
    "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer",
    "default_weight_observer",
    "get_observer_state_dict",
    "load_observer_state_dict",
    "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]

_ObserverBase = UniformQuantizationObserverBase

default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_channel_symmetric, quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=torch.quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=torch.quint8, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0
)
default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
    dtype=torch.quint4x2, qscheme=torch.per_channel_affine_float_qparams, ch_axis=0
)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=torch.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=torch.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver


def _is_activation_post_process(module: Any) -> bool:
    return isinstance(module, (ObserverBase, torch.ao.quantization.FakeQuantizeBase))


def get_observer_state_dict(mod: Any) -> Any:
    """Return of a module's state what observers saw.

    >>> import torch.ao.quantization as quantization
    >>> model = torch.nn.Sequential(quantization.MinMaxObserver())
    >>> _ = model(torch.tensor([-1.0, 3.0]))
    >>> quantization.get_observer_state_dict(model)
    OrderedDict()
    """
    whole = mod.state_dict()
    found: Any = OrderedDict((key, value) for key, value in whole.items() if "activation_post_process" in key)
    found._metadata = whole._metadata
    return found


def load_observer_state_dict(mod: Any, obs_dict: Any) -> None:
    """Give the observers of a module what others saw.

    >>> import torch.ao.quantization as quantization
    >>> model = quantization.QuantWrapper(torch.nn.Linear(2, 1)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> first, second = quantization.prepare(model), quantization.prepare(model)
    >>> _ = first(torch.ones(4, 2))
    >>> quantization.load_observer_state_dict(second, quantization.get_observer_state_dict(first))
    >>> second.quant.activation_post_process.max_val
    tensor(1.)
    """
    missing: list[str] = []
    unexpected: list[str] = []
    for name, module in mod.named_modules():
        if _is_activation_post_process(module):
            module._load_from_state_dict(obs_dict, name + ".", {}, False, missing, unexpected, [])
    for word, keys in (("Missing", missing), ("Unexpected", unexpected)):
        for key in keys:
            if "observer" in key or "activation_post_process" in key:
                raise Exception(f"{word} keys for observer {key} in state_dict")


adopt(globals())
