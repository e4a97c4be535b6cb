"""Activations, softmax, normalizations, embeddings and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written
from mindtorch_storage.dtype import dtype as Dtype

for _row, _name in {
    "relu": "Relu", "silu": "Silu", "silu_backward": "SiluBackward", "sigmoid_backward": "SigmoidBackward",
    "tanh_backward": "TanhBackward", "leaky_relu": "LeakyRelu", "leaky_relu_backward": "LeakyReluBackward",
    "elu": "Elu", "elu_backward": "EluBackward", "mish": "Mish", "mish_backward": "MishBackward",
    "softplus": "Softplus", "softplus_backward": "SoftplusBackward", "softshrink": "Softshrink",
    "softshrink_backward": "SoftshrinkBackward", "hardshrink": "Hardshrink", "hardshrink_backward":
    "HardshrinkBackward", "hardsigmoid": "Hardsigmoid", "hardsigmoid_backward": "HardsigmoidBackward",
    "hardswish": "Hardswish", "hardswish_backward": "HardswishBackward", "hardtanh": "Hardtanh",
    "hardtanh_backward": "HardtanhBackward", "threshold": "Threshold", "threshold_backward": "ThresholdBackward",
    "glu": "Glu", "glu_backward": "GluBackward", "gelu_backward": "GeluBackwardV2", "mse_loss": "MseLoss",
    "mse_loss_backward": "MseLossBackward", "smooth_l1_loss": "SmoothL1Loss",
    "binary_cross_entropy": "BinaryCrossEntropy", "binary_cross_entropy_backward": "BinaryCrossEntropyBackward",
}.items():  # fmt: skip
    aclnn(_row, _name)
aclnn("gelu", "GeluV2", adapt=lambda x, approximate: (x, 1 if approximate == "tanh" else 0))
aclnn("_softmax", "Softmax", adapt=lambda x, dim, half_to_float: (x, dim))
aclnn("_log_softmax", "LogSoftmax", adapt=lambda x, dim, half_to_float: (x, dim))


def _softmax_backward(name: str, logarithm: bool) -> Any:
    """Return the gradient's kernel; in float64, which the operator lacks, it is composed."""

    def run(out: DeviceArray, grad: DeviceArray, y: DeviceArray, dim: int, dtype: Dtype) -> None:
        if not out.size:
            return
        if grad.dtype != np.float64:
            on.into(out, name, grad, y, dim)
            return
        shape = [1 if axis == dim % grad.ndim else n for axis, n in enumerate(grad.shape)] if grad.ndim else []
        given = grad if logarithm else on.mul(grad, y)
        total = on.apply("ReduceSum", shape, grad.dtype, given, [dim] if grad.ndim else [], True)
        share = on.mul(on.each("Exp", y) if logarithm else y, total)
        on.copied(out, on.sub(given, share))

    return run


written("_softmax_backward_data", "SoftmaxBackward", _softmax_backward("SoftmaxBackward", False))
written("_log_softmax_backward_data", "LogSoftmaxBackward", _softmax_backward("LogSoftmaxBackward", True))


def _safe_softmax(out: DeviceArray, self: DeviceArray, dim: int, dtype: object) -> None:
    """Softmax in which a row that is masked entirely gives zeros."""
    launch("aclnnSoftmax", [self, dim, out])
    shape = tuple(1 if axis == dim % self.ndim else n for axis, n in enumerate(self.shape)) if self.ndim else ()
    top = new_array(shape, self.dtype, self.device)
    launch("aclnnAmax", [self, [dim], True, top])
    masked = new_array(shape, np.dtype(bool), self.device)
    launch("aclnnEqScalar", [top, float("-inf"), masked])
    launch("aclnnInplaceMaskedFillScalar", [out, masked, 0.0])


written("_safe_softmax", "Softmax", _safe_softmax)
aclnn("native_layer_norm", "LayerNorm")
aclnn("native_layer_norm_backward", "LayerNormBackward")
aclnn("native_group_norm", "GroupNorm")
aclnn("native_group_norm_backward", "GroupNormBackward")
aclnn("native_batch_norm", "BatchNorm", outputs=("output", "saveMean", "saveInvstd"))
aclnn("native_batch_norm_backward", "BatchNormBackward")
aclnn("smooth_l1_loss_backward", "SmoothL1LossBackward")
aclnn("binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogits")
aclnn("log_sigmoid_forward", "LogSigmoidForward")
aclnn("log_sigmoid_backward", "LogSigmoidBackward")
aclnn("embedding", "Embedding", adapt=lambda weight, indices, *options: (weight, indices))
_EMBEDDING_BACKWARD = Operator("EmbeddingDenseBackward")


def _embedding_backward(
    out: DeviceArray, grad: DeviceArray, indices: DeviceArray, num_weights: int, padding_idx: int, by_frequency: bool
) -> None:
    if not indices.ndim:  # one row: the operator wants a list of them
        grad, indices = on.reshaped(grad, (1, *grad.shape)), on.reshaped(indices, (1,))
    # The operator takes unsigned numbers; -1, no padding row, is passed as its bits.
    _EMBEDDING_BACKWARD((out,), (grad, indices, num_weights, padding_idx % 2**64, by_frequency))


written("embedding_dense_backward", "EmbeddingDenseBackward", _embedding_backward)


def _weights(self: DeviceArray, weight: DeviceArray | None) -> Any:
    """Return the classes' weights, ones where none are given: the operator needs them."""
    if weight is not None:
        return weight
    made = new_array((self.shape[-1] if self.ndim == 1 else self.shape[1],), self.dtype, self.device)
    launch("aclnnInplaceOne", [made])
    return made


def _nll(
    out: Sequence[DeviceArray],
    self: DeviceArray,
    target: DeviceArray | None,
    weight: DeviceArray,
    reduction: int,
    ignore_index: int,
) -> None:
    value, total = out
    launch("aclnnNLLLoss", [self, target, _weights(self, weight), reduction, ignore_index, value, total])


def _nll_backward(
    out: DeviceArray | None,
    grad: DeviceArray,
    self: DeviceArray,
    target: DeviceArray | None,
    weight: DeviceArray,
    reduction: int,
    ignore_index: int,
    total: DeviceArray,
) -> None:
    arguments = [grad, self, target, _weights(self, weight), reduction, ignore_index, total, out]
    launch("aclnnNLLLossBackward", arguments)


written("nll_loss_forward", "NLLLoss", _nll)
written("nll_loss_backward", "NLLLossBackward", _nll_backward)
