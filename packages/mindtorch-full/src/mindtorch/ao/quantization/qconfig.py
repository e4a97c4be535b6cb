"""Configurations: which observers a layer has for its activations and for its weight."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.ao.quantization.fake_quantize import (
    FakeQuantize,
    FakeQuantizeBase,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_embedding_fake_quant_4bit,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from mindtorch.ao.quantization.observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    ReuseInputObserver,
    _PartialWrapper,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_float_qparams_observer_4bit,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)
from mindtorch.nn import Identity, Module

__all__ = [
    "QConfig",
    "QConfigAny",
    "QConfigDynamic",
    "default_activation_only_qconfig",
    "default_debug_qconfig",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_only_qconfig",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "get_default_qat_qconfig",
    "get_default_qat_qconfig_dict",
    "get_default_qconfig",
    "get_default_qconfig_dict",
    "per_channel_dynamic_qconfig",
    "qconfig_equals",
]


class QConfig(namedtuple("QConfig", ["activation", "weight"])):
    """What makes the observers of a layer's activations and of its weight.

    >>> import torch.ao.quantization as quantization
    >>> config = quantization.QConfig(quantization.default_observer, quantization.default_weight_observer)
    >>> type(config.activation()).__name__, type(config.weight()).__name__
    ('MinMaxObserver', 'MinMaxObserver')
    """

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        """Refuse observers that are made already."""
        if isinstance(activation, Module) or isinstance(weight, Module):
            raise ValueError(
                "QConfig received observer instance, please pass observer class instead. "
                "Use MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


class QConfigDynamic(namedtuple("QConfigDynamic", ["activation", "weight"])):
    """The older configuration of layers whose inputs are quantized as they come.

    >>> import torch.ao.quantization as quantization
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> config = quantization.QConfigDynamic(weight=quantization.default_weight_observer)
    >>> type(config.activation()).__name__, type(config.weight()).__name__
    ('Identity', 'MinMaxObserver')
    """

    __slots__ = ()

    def __new__(cls, activation: Any = Identity, weight: Any = Identity) -> QConfigDynamic:
        """Refuse observers that are made already."""
        warnings.warn(
            "`QConfigDynamic` is going to be deprecated in PyTorch 1.12, please use `QConfig` instead",
            FutureWarning,
            stacklevel=2,
        )
        if isinstance(weight, Module):
            raise ValueError(
                "QConfigDynamic received observer instance, please pass observer class instead. "
                "Use MyObserver.with_args(x=1) to override arguments to constructor if needed"
            )
        return super().__new__(cls, activation, weight)


QConfigAny = QConfig | None

default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(
    PlaceholderObserver.with_args(dtype=torch.float16, is_dynamic=True),
    PlaceholderObserver.with_args(dtype=torch.float16),
)
float16_static_qconfig = QConfig(
    PlaceholderObserver.with_args(dtype=torch.float16), PlaceholderObserver.with_args(dtype=torch.float16)
)
per_channel_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_per_channel_weight_observer)
float_qparams_weight_only_qconfig = QConfig(default_placeholder_observer, default_float_qparams_observer)
float_qparams_weight_only_qconfig_4bit = QConfig(default_placeholder_observer, default_float_qparams_observer_4bit)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, Identity)
default_qat_qconfig_v2 = QConfig(default_fused_act_fake_quant, default_fused_wt_fake_quant)
default_reuse_input_qconfig = QConfig(default_reuse_input_observer, NoopObserver)

_SIGNED = HistogramObserver.with_args(dtype=torch.qint8, reduce_range=False, eps=2**-12)
default_symmetric_qnnpack_qconfig = QConfig(_SIGNED, weight_observer_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(_SIGNED, per_channel_weight_observer_range_neg_127_to_127)
default_embedding_qat_qconfig = QConfig(NoopObserver.with_args(dtype=torch.float32), default_embedding_fake_quant)
default_embedding_qat_qconfig_4bit = QConfig(
    NoopObserver.with_args(dtype=torch.float32), default_embedding_fake_quant_4bit
)
default_quint8_weight_qconfig = QConfig(HistogramObserver, MinMaxObserver)
_SIGNED_QAT = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=torch.qint8,
    reduce_range=False,
    eps=2**-12,
)
default_symmetric_qnnpack_qat_qconfig = QConfig(_SIGNED_QAT, fused_wt_fake_quant_range_neg_127_to_127)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    _SIGNED_QAT, fused_per_channel_wt_fake_quant_range_neg_127_to_127
)
_PLACEHOLDER = PlaceholderObserver.with_args(dtype=torch.float32)
_default_fp32_placeholder_qconfig = QConfig(_PLACEHOLDER, _PLACEHOLDER)
_default_quint8_placeholder_qconfig = QConfig(PlaceholderObserver.with_args(dtype=torch.quint8), None)

_BACKENDS = ["fbgemm", "x86", "qnnpack", "onednn"]


def _check_backend(backend: str) -> None:
    if backend not in _BACKENDS:
        raise AssertionError(f"backend: {backend} not supported. backend must be one of {_BACKENDS}")


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """Return the usual configuration of a backend, for quantization after training.

    >>> import torch.ao.quantization as quantization
    >>> type(quantization.get_default_qconfig("x86").activation()).__name__
    'HistogramObserver'
    """
    _check_backend(backend)
    if version != 0:
        raise AssertionError(
            f"Version number: {version} in get_default_qconfig is not supported. Version number must be 0"
        )
    if backend == "onednn" and not torch.cpu._is_vnni_supported():
        warnings.warn(
            "Default qconfig of oneDNN backend with reduce_range of false may have accuracy issues "
            "on CPU without Vector Neural Network Instruction support.",
            stacklevel=2,
        )
    activation = HistogramObserver.with_args(reduce_range=backend in ("fbgemm", "x86"))
    return QConfig(activation, default_weight_observer if backend == "qnnpack" else default_per_channel_weight_observer)


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """Return the usual configuration of a backend, for training with rounding.

    >>> import torch.ao.quantization as quantization
    >>> type(quantization.get_default_qat_qconfig("x86").activation()).__name__
    'FusedMovingAvgObsFakeQuantize'
    """
    _check_backend(backend)
    if version not in (0, 1):
        raise AssertionError(
            f"Version number: {version}in get_default_qat_qconfig is not supported. Version number must be 0 or 1"
        )
    given: dict[str, Any] = {"observer": MovingAverageMinMaxObserver, "quant_min": 0, "quant_max": 255}
    if backend != "onednn":
        given["reduce_range"] = backend != "qnnpack"
    if version == 0:
        weight = default_weight_fake_quant if backend == "qnnpack" else default_per_channel_weight_fake_quant
        return QConfig(FakeQuantize.with_args(**given), weight)
    fused = default_fused_wt_fake_quant if backend == "qnnpack" else default_fused_per_channel_wt_fake_quant
    return QConfig(FusedMovingAvgObsFakeQuantize.with_args(**given), fused)


def get_default_qconfig_dict(backend: str = "x86", version: int = 0) -> Any:
    """Refuse: mappings of configurations belong to the quantization of graphs."""
    return torch.ao.quantization.get_default_qconfig_mapping(backend, version).to_dict()


def get_default_qat_qconfig_dict(backend: str = "x86", version: int = 1) -> Any:
    """Refuse: mappings of configurations belong to the quantization of graphs."""
    return torch.ao.quantization.get_default_qat_qconfig_mapping(backend, version).to_dict()


def _assert_valid_qconfig(qconfig: Any, mod: Any) -> None:
    """Refuse a weight observer by channel for a transposed convolution, whose channels lie elsewhere."""
    if qconfig is None or not isinstance(
        mod, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
    ):
        return
    if qconfig.weight is None:
        return
    example = qconfig.weight()
    if isinstance(
        example,
        (
            torch.ao.quantization.PerChannelMinMaxObserver,
            torch.ao.quantization.MovingAveragePerChannelMinMaxObserver,
        ),
    ):
        raise AssertionError("Per channel weight observer is not supported yet for ConvTranspose{n}d.")


def _add_module_to_qconfig_obs_ctr(qconfig: Any, module: Any) -> Any:
    """Return a configuration whose observers are made on the device of a module."""
    if module is None or qconfig is None or qconfig._fields != ("activation", "weight"):
        return qconfig

    def device_kwargs() -> Any:
        devices = {one.device for one in [*module.parameters(), *module.buffers()]}
        return {"device": next(iter(devices))} if devices else None

    def placed(make: Any) -> Any:
        # Only making one tells whether an observer of the user's takes the argument.
        try:
            make.with_args(factory_kwargs=None)()
        except (AttributeError, TypeError):
            return make
        return make.with_callable_args(factory_kwargs=device_kwargs)

    return QConfig(placed(qconfig.activation), placed(qconfig.weight))


def _same(one: Any, two: Any) -> bool:
    if not (isinstance(one, _PartialWrapper) and isinstance(two, _PartialWrapper)):
        return bool(one == two)
    ours, theirs = dict(one.p.keywords), dict(two.p.keywords)
    if "observer" in ours and "observer" in theirs and not _same(ours.pop("observer"), theirs.pop("observer")):
        return False
    return bool(one.p.func == two.p.func and one.p.args == two.p.args and ours == theirs)


def qconfig_equals(q1: Any, q2: Any) -> bool:
    """True where two configurations make the same observers with the same arguments.

    >>> import torch.ao.quantization as quantization
    >>> quantization.qconfig_equals(quantization.default_qconfig, quantization.default_qconfig)
    True
    """
    if q1 is None or q2 is None:
        return q1 is q2
    if not hasattr(q1, "activation") or not hasattr(q2, "activation"):
        return bool(q1 == q2)
    return _same(q1.activation, q2.activation) and _same(q1.weight, q2.weight)


def _activation_is_memoryless(qconfig: Any) -> bool:
    """True where the observer of activations keeps nothing of earlier ones."""
    made = qconfig.activation()
    if isinstance(made, FakeQuantizeBase) and hasattr(made, "activation_post_process"):
        made = made.activation_post_process
    return getattr(made, "averaging_constant", None) == 1


def _is_reuse_input_qconfig(qconfig: Any) -> bool:
    return (
        qconfig is not None
        and isinstance(qconfig.activation(), ReuseInputObserver)
        and isinstance(qconfig.weight(), NoopObserver)
    )


adopt(globals())
