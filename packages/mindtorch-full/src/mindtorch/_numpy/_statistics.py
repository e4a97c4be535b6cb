"""Covariances, convolutions and histograms."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch_storage.dtype import dtype as Dtype

from . import _dtypes_impl, _util
from ._conversions import as_tensor, takes


def _observations(x: Tensor, y: Tensor, rowvar: bool) -> Any:
    if y is None:
        return x
    rows = []
    for one in (x, y):
        one = one if one.ndim > 1 else one.reshape(1, -1)
        rows.append(one.mT if not rowvar and one.shape[0] != 1 else one)
    return mindtorch.cat(_util.promoted(*rows), 0)


def _in_single(x: Tensor, dtype: Dtype | None, function: Callable[[Any], Any]) -> Any:
    """Compute halves as single precision."""
    half = x.dtype == mindtorch.float16
    result = function(_util.cast_if_needed(x, mindtorch.float32 if half else dtype))
    return result.to(mindtorch.float16) if half else result


@takes("x y")
def corrcoef(
    x: Tensor,
    y: Tensor | None = None,
    rowvar: bool = True,
    bias: Any = None,
    ddof: Any = None,
    *,
    dtype: Dtype | None = None,
) -> Any:
    """The correlations of rows."""
    if bias is not None or ddof is not None:
        raise NotImplementedError
    return _in_single(_observations(x, y, rowvar), dtype, mindtorch.corrcoef)


@takes("m y fweights aweights")
def cov(
    m: Tensor, y: Tensor | None = None, rowvar: bool = True, bias: Any = False, ddof: Any = None, fweights: Tensor | None = None,
    aweights: Tensor | None = None, *, dtype: Dtype | None = None,
) -> Any:  # fmt: skip
    """The covariances of rows."""
    correction = int(bias == 0) if ddof is None else ddof
    return _in_single(
        _observations(m, y, rowvar),
        dtype,
        lambda x: mindtorch.cov(x, correction=correction, aweights=aweights, fweights=fweights),
    )


def _convolved(a: Tensor, v: Tensor, mode: str) -> Any:
    a, v = _util.promoted(a, v)
    if mode == "same" and v.shape[0] % 2 == 0:
        raise NotImplementedError("mode='same' and even-length weights")
    padding = v.shape[0] - 1 if mode == "full" else mode
    return mindtorch.nn.functional.conv1d(a[None, :], v[None, None, :], padding=padding)[0]


@takes("a v")
def convolve(a: Tensor, v: Tensor, mode: str = "full") -> Any:
    """The convolution of two sequences."""
    a, v = (v, a) if a.shape[0] < v.shape[0] else (a, v)
    return _convolved(a, v.flip(0), mode)


@takes("a v")
def correlate(a: Tensor, v: Tensor, mode: str = "valid") -> Any:
    """The correlation of two sequences."""
    return _convolved(a, mindtorch.conj_physical(v), mode)


@takes("x weights")
def bincount(x: Tensor, /, weights: Tensor | None = None, minlength: int = 0) -> Any:
    """How often each number is there."""
    x = x if x.numel() else x.new_empty(0, dtype=mindtorch.int64)
    x = _util.typecast_tensor(x, _dtypes_impl.default_dtypes().int_dtype, "safe")
    return mindtorch.bincount(x, weights, minlength)


@takes("a bins weights")
def histogram(
    a: Tensor,
    bins: Any = 10,
    range: Any = None,
    normed: object = None,
    weights: Tensor | None = None,
    density: bool | None = None,
) -> Any:
    """How many elements are in each bin, and the edges of the bins."""
    if normed is not None:
        raise ValueError("normed argument is deprecated, use density= instead")
    if weights is not None and weights.dtype.is_complex:
        raise NotImplementedError("complex weights histogram.")
    whole = _dtypes_impl.category(a.dtype) < 2
    counted = weights is None or not weights.dtype.is_floating_point
    a = a.double() if whole else a
    weights = None if weights is None else _util.cast_if_needed(weights, a.dtype)
    bins = mindtorch.as_tensor(bins)
    bins = operator.index(bins) if bins.ndim == 0 else _util.cast_if_needed(bins, a.dtype)
    limits = {} if range is None else {"range": range}
    counts, edges = mindtorch.histogram(a, bins, weight=weights, density=bool(density), **limits)
    return counts.long() if counted and not density else counts, edges.long() if whole else edges


@takes("range weights")
def histogram2d(
    x: Tensor,
    y: Tensor,
    bins: Any = 10,
    range: Any = None,
    normed: object = None,
    weights: Tensor | None = None,
    density: bool | None = None,
) -> Any:
    """How many pairs are in each rectangle, and its edges."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = _histogramdd((x, y), bins, range, normed, weights, density)
    return counts, edges[0], edges[1]


@takes("range weights")
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    normed: object = None,
    weights: Tensor | None = None,
    density: bool | None = None,
) -> Any:
    """How many points are in each box, and its edges."""
    return _histogramdd(sample, bins, range, normed, weights, density)


def _histogramdd(sample: Any, bins: Any, range: Any, normed: object, weights: Tensor, density: bool) -> Any:
    if normed is not None:
        raise ValueError("normed argument is deprecated, use density= instead")
    points = as_tensor(sample).T if isinstance(sample, (list, tuple)) else as_tensor(sample)
    points = points if points.ndim > 1 else points.reshape(1, -1)
    points = points if _dtypes_impl.category(points.dtype) > 1 else points.double()
    given = None
    if not isinstance(bins, int) and not all(isinstance(one, int) for one in bins):
        given = [as_tensor(one) for one in bins]
        bins = [_util.cast_if_needed(one, points.dtype) for one in given]
    limits = None if range is None else range.flatten().tolist()
    more: dict[str, Any] = {}
    if weights is not None:
        low, high = points.aminmax(dim=0)
        limits = mindtorch.stack([low, high], 1).flatten().tolist()
        more["weight"] = _util.cast_if_needed(weights, points.dtype)
    counts, edges = mindtorch.histogramdd(points, bins, limits, density=bool(density), **more)
    if given is None:
        return counts, edges
    return counts, [_util.cast_if_needed(edge, one.dtype) for edge, one in zip(edges, given, strict=True)]
