"""Which layer stands for which, by type: in training with rounding, quantized before, quantized as inputs come."""

from __future__ import annotations

import copy
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.ao.nn import intrinsic, qat, quantized
from mindtorch.ao.nn.intrinsic.quantized import dynamic as intrinsic_dynamic
from mindtorch.ao.nn.qat import dynamic as qat_dynamic
from mindtorch.ao.nn.quantized import dynamic
from mindtorch.ao.quantization.fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant,
    default_fixed_qparams_range_neg1to1_fake_quant,
)
from mindtorch.ao.quantization.stubs import DeQuantStub, QuantStub
from mindtorch.ao.quantization.utils import get_combined_dict
from mindtorch.nn.modules.linear import NonDynamicallyQuantizableLinear
from mindtorch.nn.utils.parametrize import type_before_parametrizations

__all__ = [
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "get_default_compare_output_module_list",
    "get_default_dynamic_quant_module_mappings",
    "get_default_qat_module_mappings",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings",
    "get_embedding_static_quant_module_mappings",
    "get_static_quant_module_class",
    "no_observer_set",
]

_whole = intrinsic.quantized

DEFAULT_STATIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    QuantStub: quantized.Quantize,
    DeQuantStub: quantized.DeQuantize,
    nn.BatchNorm2d: quantized.BatchNorm2d,
    nn.BatchNorm3d: quantized.BatchNorm3d,
    nn.Dropout: quantized.Dropout,
    nn.Conv1d: quantized.Conv1d,
    nn.Conv2d: quantized.Conv2d,
    nn.Conv3d: quantized.Conv3d,
    nn.ConvTranspose1d: quantized.ConvTranspose1d,
    nn.ConvTranspose2d: quantized.ConvTranspose2d,
    nn.ConvTranspose3d: quantized.ConvTranspose3d,
    nn.ELU: quantized.ELU,
    nn.Embedding: quantized.Embedding,
    nn.EmbeddingBag: quantized.EmbeddingBag,
    nn.GroupNorm: quantized.GroupNorm,
    nn.Hardswish: quantized.Hardswish,
    nn.InstanceNorm1d: quantized.InstanceNorm1d,
    nn.InstanceNorm2d: quantized.InstanceNorm2d,
    nn.InstanceNorm3d: quantized.InstanceNorm3d,
    nn.LayerNorm: quantized.LayerNorm,
    nn.LeakyReLU: quantized.LeakyReLU,
    NonDynamicallyQuantizableLinear: quantized.Linear,
    nn.Linear: quantized.Linear,
    nn.ReLU6: quantized.ReLU6,
    nn.PReLU: quantized.PReLU,
    quantized.FloatFunctional: quantized.QFunctional,
    intrinsic.BNReLU2d: _whole.BNReLU2d,
    intrinsic.BNReLU3d: _whole.BNReLU3d,
    intrinsic.ConvReLU1d: _whole.ConvReLU1d,
    intrinsic.ConvReLU2d: _whole.ConvReLU2d,
    intrinsic.ConvReLU3d: _whole.ConvReLU3d,
    intrinsic.LinearReLU: _whole.LinearReLU,
    intrinsic.qat.ConvBn1d: quantized.Conv1d,
    intrinsic.qat.ConvBn2d: quantized.Conv2d,
    intrinsic.qat.ConvBn3d: quantized.Conv3d,
    intrinsic.qat.ConvBnReLU1d: _whole.ConvReLU1d,
    intrinsic.qat.ConvBnReLU2d: _whole.ConvReLU2d,
    intrinsic.qat.ConvBnReLU3d: _whole.ConvReLU3d,
    intrinsic.qat.ConvReLU2d: _whole.ConvReLU2d,
    intrinsic.qat.ConvReLU3d: _whole.ConvReLU3d,
    intrinsic.qat.LinearReLU: _whole.LinearReLU,
    intrinsic.qat.LinearBn1d: quantized.Linear,
    qat.Linear: quantized.Linear,
    qat.Conv2d: quantized.Conv2d,
    qat.Conv3d: quantized.Conv3d,
}
DEFAULT_QAT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.Conv2d: qat.Conv2d,
    nn.Conv3d: qat.Conv3d,
    nn.Linear: qat.Linear,
    NonDynamicallyQuantizableLinear: qat.Linear,
    intrinsic.ConvBn1d: intrinsic.qat.ConvBn1d,
    intrinsic.ConvBn2d: intrinsic.qat.ConvBn2d,
    intrinsic.ConvBn3d: intrinsic.qat.ConvBn3d,
    intrinsic.ConvBnReLU1d: intrinsic.qat.ConvBnReLU1d,
    intrinsic.ConvBnReLU2d: intrinsic.qat.ConvBnReLU2d,
    intrinsic.ConvBnReLU3d: intrinsic.qat.ConvBnReLU3d,
    intrinsic.ConvReLU2d: intrinsic.qat.ConvReLU2d,
    intrinsic.ConvReLU3d: intrinsic.qat.ConvReLU3d,
    intrinsic.LinearReLU: intrinsic.qat.LinearReLU,
    intrinsic.LinearBn1d: intrinsic.qat.LinearBn1d,
}
DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS: dict[Any, Any] = {
    nn.GRUCell: dynamic.GRUCell,
    nn.Linear: dynamic.Linear,
    qat_dynamic.Linear: dynamic.Linear,
    NonDynamicallyQuantizableLinear: dynamic.Linear,
    nn.LSTM: dynamic.LSTM,
    nn.GRU: dynamic.GRU,
    nn.LSTMCell: dynamic.LSTMCell,
    nn.RNNCell: dynamic.RNNCell,
    intrinsic.LinearReLU: intrinsic_dynamic.LinearReLU,
    nn.EmbeddingBag: quantized.EmbeddingBag,
    nn.Embedding: quantized.Embedding,
}
_INCLUDE_QCONFIG_PROPAGATE_LIST: set[Any] = {nn.Sequential}
DEFAULT_MODULE_TO_ACT_POST_PROCESS: dict[Any, Any] = {
    nn.Hardsigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Sigmoid: default_fixed_qparams_range_0to1_fake_quant,
    nn.Softmax: default_fixed_qparams_range_0to1_fake_quant,
    nn.Tanh: default_fixed_qparams_range_neg1to1_fake_quant,
}


def no_observer_set() -> set[Any]:
    """Return the types whose results are not observed."""
    return set()


def get_default_static_quant_module_mappings() -> dict[Any, Any]:
    """Return the layers of models that are quantized after training.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_default_static_quant_module_mappings()[torch.nn.Linear]
    <class 'torch.ao.nn.quantized.modules.linear.Linear'>
    """
    return copy.deepcopy(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS)


def get_embedding_static_quant_module_mappings() -> dict[Any, Any]:
    """Return the layers of models that are quantized after training, with embeddings that were trained with rounding.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_embedding_static_quant_module_mappings()[torch.nn.Embedding]
    <class 'torch.ao.nn.quantized.modules.embedding_ops.Embedding'>
    """
    return {
        **get_default_static_quant_module_mappings(),
        qat.EmbeddingBag: quantized.EmbeddingBag,
        qat.Embedding: quantized.Embedding,
    }


def _class_of(mapping: dict[Any, Any], additional: Any, float_module_class: Any) -> Any:
    found = get_combined_dict(mapping, additional or {}).get(float_module_class)
    if found is None:
        raise AssertionError(
            f"Floating point module class {float_module_class} does not have a corresponding quantized module class"
        )
    return found


def get_static_quant_module_class(
    float_module_class: Any, additional_static_quant_mapping: Any = None, is_reference: bool = False
) -> Any:
    """Return the quantized layer of a type.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_static_quant_module_class(torch.nn.Linear)
    <class 'torch.ao.nn.quantized.modules.linear.Linear'>
    """
    if is_reference:
        raise NotImplementedError("torch.ao.nn.quantized.reference: layers that dequantize weights are not offered")
    return _class_of(DEFAULT_STATIC_QUANT_MODULE_MAPPINGS, additional_static_quant_mapping, float_module_class)


def get_dynamic_quant_module_class(float_module_class: Any, additional_dynamic_quant_mapping: Any = None) -> Any:
    """Return the layer of a type whose inputs are quantized as they come.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_dynamic_quant_module_class(torch.nn.Linear)
    <class 'torch.ao.nn.quantized.dynamic.modules.linear.Linear'>
    """
    return _class_of(DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS, additional_dynamic_quant_mapping, float_module_class)


def get_default_qat_module_mappings() -> dict[Any, Any]:
    """Return the layers of models that are trained with rounding.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_default_qat_module_mappings()[torch.nn.Linear]
    <class 'torch.ao.nn.qat.modules.linear.Linear'>
    """
    return copy.deepcopy(DEFAULT_QAT_MODULE_MAPPINGS)


def get_embedding_qat_module_mappings() -> dict[Any, Any]:
    """Return the layers of models that are trained with rounding, embeddings among them.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_embedding_qat_module_mappings()[torch.nn.Embedding]
    <class 'torch.ao.nn.qat.modules.embedding_ops.Embedding'>
    """
    return {
        **get_default_qat_module_mappings(),
        nn.EmbeddingBag: qat.EmbeddingBag,
        nn.Embedding: qat.Embedding,
    }


def get_default_dynamic_quant_module_mappings() -> dict[Any, Any]:
    """Return the layers whose inputs are quantized as they come.

    >>> import torch.ao.quantization as quantization
    >>> quantization.get_default_dynamic_quant_module_mappings()[torch.nn.Linear]
    <class 'torch.ao.nn.quantized.dynamic.modules.linear.Linear'>
    """
    return DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS


def get_default_qconfig_propagation_list() -> set[Any]:
    """Return the types whose results are observed.

    >>> import torch.ao.quantization as quantization
    >>> torch.nn.Linear in quantization.get_default_qconfig_propagation_list()
    True
    """
    return {
        *DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        *DEFAULT_QAT_MODULE_MAPPINGS,
        *DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        *_INCLUDE_QCONFIG_PROPAGATE_LIST,
    }


def get_default_compare_output_module_list() -> set[Any]:
    """Return the types whose results are compared when a quantized model is looked into.

    >>> import torch.ao.quantization as quantization
    >>> torch.nn.Linear in quantization.get_default_compare_output_module_list()
    True
    """
    mappings = (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        DEFAULT_QAT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    )
    found = {one for mapping in mappings for one in (*mapping, *mapping.values())}
    return found | _INCLUDE_QCONFIG_PROPAGATE_LIST


def _get_special_act_post_process(module: Any) -> Any:
    return DEFAULT_MODULE_TO_ACT_POST_PROCESS.get(type_before_parametrizations(module))


def _has_special_act_post_process(module: Any) -> bool:
    return module.training and type(module) in DEFAULT_MODULE_TO_ACT_POST_PROCESS


adopt(globals())
