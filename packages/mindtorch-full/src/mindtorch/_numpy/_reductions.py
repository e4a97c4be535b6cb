"""Sums, extremes and averages along axes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch_storage.dtype import dtype as Dtype

from . import _dtypes_impl, _util
from ._conversions import takes


def _over_axes(function: Callable[..., Any]) -> Callable[..., Any]:
    """Count axes from the first one; no axes at all, `()`, are one of size one."""

    @functools.wraps(function)
    def call(a: Tensor, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
        if axis is not None:
            axis = _util.normalize_axis_tuple(axis, a.ndim)
        if axis == ():
            a, axis = a.reshape(_util.expand_shape(a.shape, 0)), (0,)
        return function(a, axis, *args, **kwargs)

    return call


def _dims(axis: Any) -> dict[str, Any]:
    return {} if axis is None else {"dim": axis}


def _at_least_real(dtype: Dtype | None, own: Any) -> Any:
    dtype = own if dtype is None else dtype
    real = dtype.is_floating_point or dtype.is_complex
    return dtype if real else _dtypes_impl.default_dtypes().float_dtype


def _counted(dtype: Dtype | None) -> Any:
    """Booleans are added up as integers."""
    return _dtypes_impl.default_dtypes().int_dtype if dtype == mindtorch.bool else dtype


def _ordered(a: Tensor, name: str) -> Any:
    if a.is_complex():
        raise NotImplementedError(f"{name} with dtype={a.dtype}")
    return a


def _place_of_extreme(name: str) -> Callable[..., Any]:
    @takes("a")
    @_over_axes
    def function(a: Tensor, axis: Any = None, out: object = None, *, keepdims: bool = False) -> Any:
        if a.is_complex():
            raise NotImplementedError(f"{name} with dtype={a.dtype}.")
        a = a.to(mindtorch.uint8) if a.dtype == mindtorch.bool else a
        return getattr(mindtorch, name)(a, _util.allow_only_single_axis(axis))

    return function


def _truth(name: str) -> Callable[..., Any]:
    @takes("a", fixed="where")
    @_over_axes
    def function(
        a: Tensor, axis: Any = None, out: object = None, keepdims: bool = False, *, where: object = None
    ) -> Any:
        return getattr(mindtorch, name)(a, **_dims(_util.allow_only_single_axis(axis)))

    return function


def _extreme(name: str) -> Callable[..., Any]:
    @takes("a", fixed="initial where")
    @_over_axes
    def function(
        a: Tensor,
        axis: Any = None,
        out: object = None,
        keepdims: bool = False,
        initial: object = None,
        where: object = None,
    ) -> Any:
        return getattr(_ordered(a, name), name)(axis if axis is not None else ())

    return function


argmax, argmin = _place_of_extreme("argmax"), _place_of_extreme("argmin")
any, all = _truth("any"), _truth("all")
amax = max = _extreme("amax")
amin = min = _extreme("amin")


@takes("a")
@_over_axes
def count_nonzero(a: Tensor, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return a.count_nonzero(axis)


@takes("a")
@_over_axes
def ptp(a: Tensor, axis: Any = None, out: object = None, keepdims: bool = False) -> Any:
    """The largest element less the smallest one."""
    axis = () if axis is None else axis
    return a.amax(axis) - a.amin(axis)


@takes("a", fixed="initial where")
@_over_axes
def sum(
    a: Tensor, axis: Any = None, dtype: Dtype | None = None, out: object = None, keepdims: bool = False, initial: object = None,
    where: object = None,
) -> Any:  # fmt: skip
    """The sum of elements."""
    return a.sum(dtype=_counted(dtype), **_dims(axis))


@takes("a", fixed="initial where")
@_over_axes
def prod(
    a: Tensor, axis: Any = None, dtype: Dtype | None = None, out: object = None, keepdims: bool = False, initial: object = None,
    where: object = None,
) -> Any:  # fmt: skip
    """The product of elements."""
    return a.prod(dtype=_counted(dtype), **_dims(_util.allow_only_single_axis(axis)))


product = prod


def _mean(a: Tensor, axis: Any = None, dtype: Dtype | None = None) -> Any:
    return a.mean(dtype=_at_least_real(dtype, a.dtype), **_dims(axis))


@takes("a", fixed="where")
@_over_axes
def mean(
    a: Tensor,
    axis: Any = None,
    dtype: Dtype | None = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: object = None,
) -> Any:
    """The average of elements."""
    return _mean(a, axis, dtype)


def _spread(name: str) -> Callable[..., Any]:
    @takes("a", fixed="where")
    @_over_axes
    def function(
        a: Tensor, axis: Any = None, dtype: Dtype | None = None, out: object = None, ddof: int = 0, keepdims: bool = False, *,
        where: object = None,
    ) -> Any:  # fmt: skip
        tensor = _util.cast_if_needed(a, _at_least_real(dtype, a.dtype))
        return _util.cast_if_needed(getattr(tensor, name)(dim=axis, correction=ddof), dtype)

    return function


std, var = _spread("std"), _spread("var")


def _scan(name: str) -> Callable[..., Any]:
    @takes("a")
    def function(a: Tensor, axis: Any = None, dtype: Dtype | None = None, out: object = None) -> Any:
        dtype = a.dtype if dtype is None else dtype
        (a,), axis = _util.axis_none_flatten(a, axis=axis)
        return getattr(a, name)(_util.normalize_axis_index(axis, a.ndim), dtype=_counted(dtype))

    return function


cumsum = _scan("cumsum")
cumprod = cumproduct = _scan("cumprod")


@takes("a weights")
def average(
    a: Tensor, axis: Any = None, weights: Tensor | None = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """The average of elements that count as much as their weights say."""
    axes = None if axis is None else _util.normalize_axis_tuple(axis, a.ndim)
    if weights is None:
        result = _mean(a, axes)
        total = mindtorch.as_tensor(a.numel() / result.numel(), dtype=result.dtype)
    else:
        a = a if a.dtype.is_floating_point else a.double()
        weights = _spread_weights(a, weights, axis)
        dtype = _dtypes_impl.result_type_impl(a, weights)
        total = weights.sum(dtype=dtype, **_dims(axes))
        result = (a * weights).sum(dtype=dtype, **_dims(axes)) / total
    if not returned:
        return result
    kept = _util.apply_keepdims(result, axes, a.ndim) if keepdims else result
    if total.shape != kept.shape:
        total = mindtorch.broadcast_to(total, result.shape).clone()
    return result, total


def _spread_weights(a: Tensor, weights: Tensor, axis: Any) -> Any:
    if a.shape == weights.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.ndim != 1:
        raise TypeError("1D weights expected when shapes of a and weights differ.")
    if weights.shape[0] != a.shape[axis]:
        raise ValueError("Length of weights not compatible with specified axis.")
    return mindtorch.broadcast_to(weights, (*(1,) * (a.ndim - 1), weights.shape[0])).swapaxes(-1, axis)


def _quantile(a: Tensor, q: Any, axis: Any, method: str) -> Any:
    a = a if a.dtype.is_floating_point else a.to(_dtypes_impl.default_dtypes().float_dtype)
    a = a.to(mindtorch.float32) if a.dtype == mindtorch.float16 else a
    if axis is None:
        a, q, axis = a.flatten(), q.flatten(), 0
    else:
        axis = _util.allow_only_single_axis(_util.normalize_axis_tuple(axis, a.ndim))
    return mindtorch.quantile(a, _util.cast_if_needed(q, a.dtype), axis, interpolation=method)


@takes("a q", fixed="interpolation", squeeze=True)
def quantile(
    a: Tensor, q: Tensor, axis: Any = None, out: object = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, interpolation: object = None,
) -> Any:  # fmt: skip
    """The values below which such parts of the elements are."""
    return _quantile(a, q, axis, method)


@takes("a q", fixed="interpolation", squeeze=True)
def percentile(
    a: Tensor, q: Tensor, axis: Any = None, out: object = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False, *, interpolation: object = None,
) -> Any:  # fmt: skip
    """The values below which so many in a hundred elements are."""
    if _dtypes_impl.category(q.dtype) == 1:
        q = q.to(_dtypes_impl.default_dtypes().float_dtype)
    return _quantile(a, q / 100.0, axis, method)


@takes("a", squeeze=True)
def median(
    a: Tensor, axis: Any = None, out: object = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """The value in the middle."""
    return _quantile(a, mindtorch.as_tensor(0.5), axis, "linear")
