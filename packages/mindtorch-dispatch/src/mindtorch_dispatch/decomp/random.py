"""Random ops composed of fills and arithmetic, step by step as torch composes them: the steps decide the last bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..extend.devices import has_kernel, in_one_kernel
from ..meta.checks import check
from ..meta.random_checks import number
from ..plan.targets import prepare_target, refuse_recorded
from ..typing import Tensor
from .npu import npu

_SELU_ALPHA = 1.7580993408473766


def _check_std(std: Any) -> None:
    check(not std.dtype.is_complex, lambda: "normal expects standard deviation to be non-complex")
    if std.device.type != "meta" and std._sig.spec.numel and not std._wraps:
        check(aten.ge(aten.min(std), 0).item(), lambda: "normal expects all elements of std >= 0.0")


class _Normal:
    """`normal` of tensors: `fill` draws into a new tensor, or straight into `out=`, whose layout says which element gets
    which number."""

    __slots__ = ("_fill", "_like", "_shape", "_widens")

    def __init__(self, fill: Callable[..., Any], like: int, shape: Callable[..., Any], widens: bool = False) -> None:
        self._fill = fill
        self._like = like
        self._shape = shape
        self._widens = widens  # an `out=` tensor broadcasts with the means

    def __call__(self, *values: Any) -> Any:
        like = values[self._like]
        return self._fill(aten.empty(self._shape(*values), dtype=like.dtype, device=like.device), *values)

    def into(self, out: Any, *values: Any) -> Any:
        """Draw into the tensor given as `out=`."""
        refuse_recorded("normal", [out, *(value for value in values if isinstance(value, TensorBase))])
        shape = tuple(self._shape(*values))
        if self._widens:
            shape = broadcast_shapes(shape, tuple(out.shape))
        prepare_target(out, Spec.of(out.dtype, out.device, shape))
        return self._fill(out, *values)


def _around_means(drawn: object, mean: object, std: float, generator: object) -> Any:
    return aten.add_(aten.normal_(drawn, 0.0, std, generator=generator), mean)


def _of_deviations(drawn: Any, mean: object, std: object, generator: object) -> Any:
    _check_std(std)
    if not drawn.numel() and not isinstance(mean, TensorBase):  # torch looks at no dtype then
        return drawn
    return aten.add_(aten.mul_(aten.normal_(drawn, 0.0, 1.0, generator=generator), std), mean)


normal_mean = _Normal(_around_means, 0, lambda mean, std, generator: mean.shape, widens=True)
"""Normals around elementwise means."""

normal_std = _Normal(_of_deviations, 1, lambda mean, std, generator: std.shape)
"""Normals with elementwise standard deviations."""

normal_tensors = _Normal(
    _of_deviations, 0, lambda mean, std, generator: broadcast_shapes(tuple(mean.shape), tuple(std.shape))
)
"""Normals with elementwise means and standard deviations, which broadcast; the dtype is that of the means."""


def _feature_noise(input: Tensor) -> Any:
    check(len(input.shape) >= 2, lambda: "Feature dropout requires at least 2 dimensions in the input")
    shape = (*input.shape[:2], *([1] * (len(input.shape) - 2)))
    return aten.new_empty(input, shape)  # batched as the input is


def _dropout_of(multiply: Callable[[Any, Any], Any], *, feature: bool, alpha: bool) -> Callable[..., Any]:
    """Return a dropout that applies its noise with `multiply`.

    `feature` drops whole channels; `alpha` keeps mean and variance of what a SELU gives.
    """

    def drop(input: Tensor, p: float, train: bool) -> Any:
        check(0 <= p <= 1, lambda: f"dropout probability has to be between 0 and 1, but got {number(p)}")
        if p == 0 or not train or input._sig.spec.numel == 0:
            return input
        if p == 1:
            return multiply(input, aten.zeros((), dtype=input.dtype, device=input.device))
        noise = aten.bernoulli_(_feature_noise(input) if feature else aten.empty_like(input), 1 - p)
        if not alpha:
            return multiply(input, aten.div_.Scalar(noise, 1 - p))
        scale = 1.0 / math.sqrt((_SELU_ALPHA * _SELU_ALPHA * p + 1) * (1 - p))
        shift = aten.mul_(aten.add(noise, -1), _SELU_ALPHA * scale)
        shift = aten.add_(shift, _SELU_ALPHA * scale * p)
        # In place in both forms: the product is this function's own.
        return aten.add_(multiply(input, aten.mul_(noise, scale)), shift)

    return drop


def _fresh_product(input: Tensor, noise: Tensor) -> Any:
    return aten.mul(input, noise)


def _product_in_place(input: Tensor, noise: object) -> Any:
    return aten.mul_(input, noise)


_dropout = _dropout_of(_fresh_product, feature=False, alpha=False)


def dropout(input: Tensor, p: float, train: bool) -> Any:
    """Drop elements; in one kernel where the device has it."""
    kind = input._sig.spec.device.type
    if kind in in_one_kernel and train and 0 < p < 1 and has_kernel("dropout", input):
        return npu._npu_dropout(input, p)[0]
    return _dropout(input, p, train)


dropout_ = _dropout_of(_product_in_place, feature=False, alpha=False)
feature_dropout = _dropout_of(_fresh_product, feature=True, alpha=False)
feature_dropout_ = _dropout_of(_product_in_place, feature=True, alpha=False)
alpha_dropout = _dropout_of(_fresh_product, feature=False, alpha=True)
alpha_dropout_ = _dropout_of(_product_in_place, feature=False, alpha=True)
feature_alpha_dropout = _dropout_of(_fresh_product, feature=True, alpha=True)
feature_alpha_dropout_ = _dropout_of(_product_in_place, feature=True, alpha=True)


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Any, Any]:
    """Dropout that returns its mask too."""
    if input._sig.spec.numel == 0:
        return input, aten.empty_like(input)
    if train is False:
        return aten.clone(input), aten.ones_like(input, dtype=bool_dtype)
    keep = 1.0 - p
    mask = aten.bernoulli_(aten.empty_like(input, dtype=bool_dtype), keep)
    return aten.mul_(aten.mul(input, mask), 0.0 if keep == 0 else 1.0 / keep), mask


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    """Gradient of `native_dropout`."""
    return aten.mul(aten.mul(grad_output, mask), scale)
