"""Statistics composed of other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import wrap_dim


def spread_all(name: str) -> Callable[..., Any]:
    """Return `std(self, unbiased)` and its like."""
    return lambda self, unbiased: getattr(aten, name).correction(self, correction=1 if unbiased else 0)


def spread_dim(name: str) -> Callable[..., Any]:
    """Return `std(self, dim, unbiased, keepdim)` and its like."""

    def call(self: TensorBase, dim: Any, unbiased: bool, keepdim: bool) -> Any:
        return getattr(aten, name).correction(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)

    return call


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(self: TensorBase, q: Any, interpolation: str) -> None:
    if self.numel() == 0:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if q.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if self.dtype.name not in ("float32", "float64"):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if self.dtype is not q.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if self.device != q.device:
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
    if interpolation not in _INTERPOLATIONS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            + interpolation
        )


def quantile(name: str) -> Callable[..., Any]:
    """Return `quantile` or `nanquantile` for a tensor of fractions."""

    def call(self: TensorBase, q: TensorBase, dim: int | None, keepdim: bool, interpolation: str) -> Any:
        _check_quantile(self, q, interpolation)
        wrapped = None if dim is None else wrap_dim(dim, self.ndim)
        if self.device.type == "cpu" and not aten.all(aten.logical_and(aten.ge(q, 0), aten.le(q, 1))).item():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
        return _quantile(self, q, wrapped, keepdim, interpolation, name == "nanquantile")

    return call


def quantile_scalar(name: str) -> Callable[..., Any]:
    """Return `quantile` or `nanquantile` for one fraction."""

    def call(self: TensorBase, q: float, dim: int | None, keepdim: bool, interpolation: str) -> Any:
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        fraction = aten.scalar_tensor(q, dtype=self.dtype, device=self.device)
        return getattr(aten, name)(self, fraction, dim, keepdim, interpolation=interpolation)

    return call


def _quantile(self: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
    kept = _kept_shape(self, dim, keepdim)
    if dim is None:
        ordered = aten.sort(aten.flatten(self))[0]
    elif dim == self.ndim - 1:
        ordered = aten.sort(self)[0]
    else:
        ordered = aten.sort(aten.transpose(aten.unsqueeze(self, -1), dim, -1))[0]
    extent = ordered.size(-1) if ordered.ndim else 1
    ordered = aten.view(ordered, [*kept, extent])
    scalar = q.ndim == 0
    values = _at_ranks(
        ordered, _ranks(ordered, aten.unsqueeze(q, 0) if scalar else q, interpolation, skip_nan), interpolation
    )
    if scalar:
        return aten.squeeze_(values, -1)
    return aten.squeeze_(aten.transpose_(aten.unsqueeze_(values, 0), 0, -1), -1)


def _ranks(ordered: Any, q: Any, interpolation: str, skip_nan: bool) -> Any:
    if skip_nan:
        counted = aten.sub(aten.sum(aten.logical_not(aten.isnan(ordered)), -1, True), 1)
        ranks = aten.mul(q, counted)
        ranks = aten.masked_fill(ranks, aten.lt(ranks, 0), 0)
    else:
        last = ordered.size(-1) - 1
        ranks = aten.expand(aten.mul(q, last), [*list(ordered.shape)[:-1], q.size(0)])
        ranks = aten.masked_fill(ranks, aten.any(aten.isnan(ordered), -1, True), last)
    rounding = {"lower": aten.floor, "higher": aten.ceil, "nearest": aten.round}.get(interpolation)
    return ranks if rounding is None else rounding(ranks)


def _at_ranks(ordered: Any, ranks: Any, interpolation: str) -> Any:
    below = ranks.to(int64)
    values = aten.gather(ordered, -1, below)
    if interpolation not in ("linear", "midpoint"):
        return values
    weights = aten.full_like(ranks, 0.5) if interpolation == "midpoint" else aten.sub(ranks, below)
    upper = aten.gather(ordered, -1, aten.ceil(ranks).to(int64))
    return aten.lerp(values, upper, weights)


def _kept_shape(self: Any, dim: int | None, keepdim: bool) -> list[int]:
    if dim is None or self.ndim == 0:
        return [1] * self.ndim if keepdim else []
    shape = list(self.shape)
    shape[dim : dim + 1] = [1] if keepdim else []
    return shape
