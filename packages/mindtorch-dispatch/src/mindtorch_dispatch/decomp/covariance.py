"""Covariances and correlations of observations."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check


def _check_weights(weights: Any, name: str, observations: int, *, integral: bool) -> None:
    dtype, count = weights.dtype, len(weights.shape)
    check(
        count <= 1,
        lambda: f"cov(): expected {name} to have one or fewer dimensions but got {name} with {count} dimensions",
    )
    floating = dtype.is_floating_point
    fits = not floating and not dtype.is_complex and dtype is not bool_dtype if integral else floating
    check(
        fits,
        lambda: (
            f"cov(): expected {name} to have {'integral' if integral else 'floating point'} dtype but got {name} with "
            f"{dtype.scalar_name} dtype"
        ),
    )
    numel = weights._sig.spec.numel
    check(
        numel == observations,
        lambda: (
            f"cov(): expected {name} to have the same numel as there are observations in the input but got {numel} != "
            f"{observations}"
        ),
    )
    check(observations == 0 or bool(aten.ge(aten.min(weights), 0).item()), lambda: f"cov(): {name} cannot be negative")


def _weights(fweights: Any, aweights: Any, observations: int) -> Any:
    """Return the product of both kinds of weights, None when there are none."""
    if fweights is not None:
        _check_weights(fweights, "fweights", observations, integral=True)
    if aweights is None:
        return fweights
    _check_weights(aweights, "aweights", observations, integral=False)
    return aweights if fweights is None else aten.mul(fweights, aweights)


def cov(self: Any, correction: int, fweights: Any, aweights: Any) -> Any:
    """`cov`: rows are variables, columns observations."""
    count = len(self.shape)
    check(
        count <= 2,
        lambda: f"cov(): expected input to have two or fewer dimensions but got an input with {count} dimensions",
    )
    check(self.dtype is not bool_dtype, lambda: "cov(): bool dtype is not supported for input")
    given = aten.view(self, [1, self._sig.spec.numel]) if count < 2 else self
    observations = given.shape[1]
    weights = _weights(fweights, aweights, observations)
    total = aten.scalar_tensor(observations, dtype=int64) if weights is None else aten.sum(weights)
    check(weights is None or bool(aten.ne(total, 0).item()), lambda: "cov(): weights sum to zero, can't be normalized")
    mean = aten.div(aten.sum(given if weights is None else aten.mul(given, weights), [1]), total)
    if aweights is not None and correction != 0:
        squares = aten.sum(aten.mul(weights, aweights))
        freedom = aten.sub(total, aten.div(aten.mul(squares, correction), total))
    else:
        freedom = aten.sub(total, correction)
    if bool(aten.le(freedom, 0).item()):
        warnings.warn(
            "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
            UserWarning,
            stacklevel=2,
        )
        freedom = aten.zeros_like(freedom)
    centred = aten.sub(given, aten.unsqueeze(mean, 1))
    weighted = aten.t(centred if weights is None else aten.mul(centred, weights))
    product = aten.mm(centred, weighted.conj() if weighted.dtype.is_complex else weighted)
    return aten.squeeze(aten.div(product, freedom))


def corrcoef(self: Any) -> Any:
    """`corrcoef`: covariances by the deviations, kept within -1 and 1 against rounding."""
    count = len(self.shape)
    check(
        count <= 2,
        lambda: f"corrcoef(): expected input to have two or fewer dimensions but got an input with {count} dimensions",
    )
    matrix = cov(self, 1, None, None)
    if not matrix.shape:
        return aten.div(matrix, matrix)
    spread = aten.diag(matrix)
    deviation = aten.sqrt(aten.real(spread) if spread.dtype.is_complex else spread)
    matrix = aten.div(matrix, aten.view(deviation, [-1, 1]))
    matrix = aten.div(matrix, aten.view(deviation, [1, -1]))
    if matrix.dtype.is_complex:
        return aten.complex(aten.clip(aten.real(matrix), -1, 1), aten.clip(aten.imag(matrix), -1, 1))
    return aten.clip(matrix, -1, 1)
