"""Statistics composed of other ops."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..frames import frames_to_caller
from ..meta.checks import wrap_dim
from ..typing import Tensor


def spread_all(name: str) -> Callable[..., Any]:
    """Return `std(self, unbiased)` and its like."""
    return lambda self, unbiased: getattr(aten, name).correction(self, correction=1 if unbiased else 0)


def spread_dim(name: str) -> Callable[..., Any]:
    """Return `std(self, dim, unbiased, keepdim)` and its like."""

    def call(self: TensorBase, dim: Sequence[int] | None, unbiased: bool, keepdim: bool) -> Any:
        return getattr(aten, name).correction(self, dim, correction=1 if unbiased else 0, keepdim=keepdim)

    return call


_INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _check_quantile(self: Any, q: Any, interpolation: str) -> None:
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

    def call(self: Tensor, q: TensorBase, dim: int | None, keepdim: bool, interpolation: str) -> Any:
        _check_quantile(self, q, interpolation)
        wrapped = None if dim is None else wrap_dim(dim, self.ndim)
        if (
            self.device.type == "cpu"
            and not q._wraps
            and not aten.all(aten.logical_and(aten.ge(q, 0), aten.le(q, 1))).item()
        ):
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


def _quantile(self: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
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


def _at_ranks(ordered: object, ranks: Any, interpolation: str) -> Any:
    below = ranks.to(int64)
    values = aten.gather(ordered, -1, below)
    if interpolation not in ("linear", "midpoint"):
        return values
    weights = aten.full_like(ranks, 0.5) if interpolation == "midpoint" else aten.sub(ranks, below)
    upper = aten.gather(ordered, -1, aten.ceil(ranks).to(int64))
    return aten.lerp(values, upper, weights)


def _kept_shape(self: Tensor, dim: int | None, keepdim: bool) -> list[int]:
    if dim is None or self.ndim == 0:
        return [1] * self.ndim if keepdim else []
    shape = list(self.shape)
    shape[dim : dim + 1] = [1] if keepdim else []
    return shape


def _check_weights(name: str, weights: Tensor, observations: int, dtype_fits: bool, kind: str) -> None:
    if weights.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights.ndim} dimensions"
        )
    if not dtype_fits:
        raise RuntimeError(
            f"cov(): expected {name} to have {kind} dtype but got {name} with {weights.dtype.scalar_name} dtype"
        )
    if weights.numel() != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {observations}"
        )
    if observations and not weights._wraps and bool(aten.any(aten.lt(weights, 0)).item()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


def _weights(frequencies: Tensor | None, importances: Tensor | None, observations: int) -> Any:
    """Return the weights of the observations, None where all count the same; torch's errors for wrong ones."""
    if frequencies is not None:
        integral = not (
            frequencies.dtype.is_floating_point or frequencies.dtype.is_complex or frequencies.dtype is bool_dtype
        )
        _check_weights("fweights", frequencies, observations, integral, "integral")
    if importances is not None:
        _check_weights("aweights", importances, observations, importances.dtype.is_floating_point, "floating point")
    if frequencies is None:
        return importances
    return frequencies if importances is None else aten.mul(frequencies, importances)


def cov(self: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None) -> Any:
    """Covariances of the rows: variables in rows, observations in columns."""
    if self.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    if self.dtype is bool_dtype:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = aten.view(self, [1, -1]) if self.ndim < 2 else self
    count = rows.size(1)
    weights = _weights(fweights, aweights, count)
    if weights is None:
        total: Any = count
        mean = aten.div(aten.sum(rows, 1), count) if count else aten.sum(rows, 1) * float("nan")
        norm: Any = count - correction
    else:
        total = aten.sum(weights)
        if count and not total._wraps and not bool(aten.gt(total, 0).item()):
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        mean = aten.div(aten.sum(aten.mul(rows, weights), 1), total)
        squared = weights if aweights is None else aten.mul(weights, aweights)
        norm = aten.sub(total, aten.mul(aten.div(aten.sum(squared), total), correction))
        if aweights is None:
            norm = aten.sub(total, correction)
    if getattr(norm, "_wraps", False):  # a batch cannot be asked, and its degrees of freedom stay at least 0
        norm = aten.clamp_min(norm, 0)
    elif bool(norm <= 0):
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
        norm = 0 if weights is None else aten.zeros_like(norm)
    centred = aten.sub(rows, aten.unsqueeze(mean, 1))
    weighted = centred if weights is None else aten.mul(centred, weights)
    if centred.dtype.is_complex:
        weighted = aten.conj_physical(weighted)
    return aten.squeeze(aten.true_divide(aten.mm(centred, aten.t(weighted)), norm))


def corrcoef(self: Tensor) -> Any:
    """Covariances over the deviations of both rows."""
    if self.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {self.ndim} dimensions"
        )
    covariances = cov(self, 1, None, None)
    if covariances.ndim == 0:
        return aten.div(covariances, covariances)
    variances = aten.diagonal(covariances)
    deviations = aten.sqrt(aten.real(variances) if variances.dtype.is_complex else variances)
    scaled = aten.div(aten.div(covariances, aten.view(deviations, [-1, 1])), aten.view(deviations, [1, -1]))
    if scaled.dtype.is_complex:
        return aten.complex(aten.clip(aten.real(scaled), -1, 1), aten.clip(aten.imag(scaled), -1, 1))
    return aten.clip(scaled, -1, 1)
