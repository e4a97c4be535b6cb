"""Normalization layers over the native ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import float32, uint8
from mindtorch_storage.finfo import finfo
from mindtorch_storage.layout import contiguous_format

from ..call import aten
from ..extend.devices import has_kernel, in_one_kernel
from ..meta.checks import check, wrap_dim
from ..meta.memory_format import suggested_format
from ..meta.normalization import check_group_norm, check_normalized_shape
from ..meta.support import lacking
from ..state import state
from ..typing import Tensor
from .npu import npu


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    cudnn_enable: bool,
) -> Any:
    """Normalize over the last dimensions."""
    return aten.native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def rms_norm(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    """Divide by the root mean square over the last dimensions."""
    first = check_normalized_shape(input, normalized_shape, weight, None, star="*")
    dtype = input.dtype
    if input._sig.spec.device.type in in_one_kernel and has_kernel(
        "rms_norm", input, input if weight is None else weight
    ):
        gamma = aten.ones(normalized_shape, dtype=dtype, device=input.device) if weight is None else weight
        return npu.npu_rms_norm(input, gamma, finfo(float32).eps if eps is None else eps)[0]
    if not (dtype.is_floating_point or dtype.is_complex):
        raise lacking(dtype, "rms_norm")  # a composite, which checks on the meta device, too
    dense = aten.contiguous(input, memory_format=contiguous_format)
    wide = aten._to_copy(dense, dtype=float32) if dtype.name in ("float16", "bfloat16") else dense
    if eps is None:
        eps = finfo(wide.dtype.to_real() if dtype.is_complex else wide.dtype).eps
    dims = list(range(first, len(input.shape)))
    scale = aten.rsqrt(aten.add_(aten.mean(aten.pow(wide, 2), dims, True), eps))
    result = aten.mul(wide, scale)
    if weight is not None:
        result = aten.mul(result, weight)
    return result if result.dtype is dtype else aten._to_copy(result, dtype=dtype)


def _in_own_format(input: Tensor) -> Any:
    return aten.contiguous(input, memory_format=suggested_format(input._sig.spec))


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, cudnn_enabled: bool
) -> Any:
    """Normalize every group of channels of every sample."""
    wrap_dim(1, len(input.shape))
    count, channels = input.shape[0], input.shape[1]
    check_group_norm(input, weight, bias, channels, num_groups)
    positions = math.prod(input.shape[2:])
    return aten.native_group_norm(_in_own_format(input), weight, bias, count, channels, positions, num_groups, eps)[0]


def _check_features(name: str, channels: int, given: Tensor) -> None:
    actual = math.prod(given.shape)
    check(actual == channels, lambda: f"{name} should contain {channels} elements not {actual}")


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """Normalize every channel."""
    if input._sig.spec.numel == 0:
        out = aten.clone(input)
        out = out if weight is None else aten.mul(out, aten.select(weight, 0, 0))
        return out if bias is None else aten.add(out, aten.select(bias, 0, 0))
    wrap_dim(1, len(input.shape))
    channels = input.shape[1]
    for name, given in (("running_mean", running_mean), ("running_var", running_var)):
        if given is not None:
            _check_features(name, channels, given)
        else:
            check(training, lambda name=name: f"{name} must be defined in evaluation mode")
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None:
            _check_features(name, channels, given)
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def _repeated(tensor: Tensor | None, count: int) -> Any:
    return None if tensor is None else aten.repeat(tensor, [count])


def _put_mean(target: Tensor, batch: object, count: int, channels: int) -> None:
    before = state.mode
    state.mode = before.replace(grad=False)
    try:
        aten.copy_(target, aten.mean(aten.view(batch, [count, channels]), [0]))
    finally:
        state.mode = before


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Any:
    """Normalize every channel of every sample: batch normalization with the samples side by side as channels."""
    check(
        use_input_stats or (running_mean is not None and running_var is not None),
        lambda: "Expected running_mean and running_var to be defined when use_input_stats is false",
    )
    shape = tuple(input.shape)
    count, channels = shape[0], shape[1]
    means, variances = _repeated(running_mean, count), _repeated(running_var, count)
    if (
        means is not None
        and means.dtype is not input.dtype
        and (input.dtype.itemsize > 2 or means.dtype is not float32)
    ):
        means, variances = means.to(input.dtype), variances.to(input.dtype)
    scale, shift = _repeated(weight, count), _repeated(bias, count)
    flat = aten.view(aten.contiguous(input), [1, count * channels, *shape[2:]])
    out = aten.batch_norm(flat, scale, shift, means, variances, use_input_stats, momentum, eps, cudnn_enabled)
    if running_mean is not None:
        _put_mean(running_mean, means, count, channels)
    if running_var is not None:
        _put_mean(running_var, variances, count, channels)
    return aten.view(out, list(shape))


def _legit(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


def _without_stats(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> Any:
    return aten.native_batch_norm(input, weight, bias, None, None, training, momentum, eps)


def _without_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Any:
    return aten.native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


def functional_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """Normalize every channel; the running statistics are results, and those given stay as they are."""
    mean, variance = aten.clone(running_mean), aten.clone(running_var)
    found = aten.native_batch_norm(input, weight, bias, mean, variance, training, momentum, eps)
    return (*found, mean, variance)


def _with_reserve(training: bool) -> Any:
    def call(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        momentum: float,
        eps: float,
    ) -> Any:
        found = aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
        return (*found, aten.empty((0,), dtype=uint8, device=input.device))

    return call


FUNCTIONAL_FORMS = {
    "_native_batch_norm_legit": _legit,
    "_native_batch_norm_legit.no_stats": _without_stats,
    "_native_batch_norm_legit_no_training": _without_training,
    "_batch_norm_with_update": _with_reserve(True),
    "_batch_norm_no_update": _with_reserve(False),
}
"""The forms of `native_batch_norm` that say in their schema which arguments they write."""
