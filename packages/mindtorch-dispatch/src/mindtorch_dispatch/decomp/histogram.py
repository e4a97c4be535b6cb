"""Histograms: edges first, then counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..call import aten
from ..meta.histogram import check_counts
from ..meta.packs import pack
from ..typing import Tensor


def _columns(self: Tensor, weight: Tensor | None) -> tuple[Any, Any]:
    points = aten.reshape(self, [self.numel(), 1])
    if weight is not None and weight.shape == self.shape:
        weight = aten.reshape(weight, [weight.numel()])
    return points, weight


def histogram_edges(self: Tensor, bins: Tensor, weight: Tensor | None, density: bool) -> Any:
    """`histogram` with given edges."""
    points, weight = _columns(self, weight)
    hist = aten._histogramdd_from_bin_tensors(points, [bins], weight=weight, density=density)
    return pack("histogram", "hist bin_edges")((hist, aten.clone(bins)))


def histogram_count(
    self: Tensor, bins: int, limits: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """`histogram` with a number of equal bins."""
    points, weight = _columns(self, weight)
    (edges,) = bin_edges(points, [bins], limits, weight, density)
    hist = aten._histogramdd_from_bin_tensors(points, [edges], weight=weight, density=density)
    return pack("histogram", "hist bin_edges")((hist, edges))


def histogramdd(
    self: Tensor, bins: Sequence[int] | int, limits: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """`histogramdd` with numbers of equal bins."""
    dims = self.size(-1) if self.ndim else 1
    counts = [bins] * dims if isinstance(bins, int) else list(bins)
    edges = bin_edges(self, counts, limits, weight, density)
    hist = aten._histogramdd_from_bin_tensors(self, list(edges), weight=weight, density=density)
    return pack("histogramdd", "hist bin_edges")((hist, edges))


def histogramdd_edges(
    self: Tensor, bins: Sequence[Tensor], limits: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """`histogramdd` with given edges."""
    hist = aten._histogramdd_from_bin_tensors(self, list(bins), weight=weight, density=density)
    return pack("histogramdd", "hist bin_edges")((hist, tuple(bins)))


def from_counts(
    self: Tensor, bins: Sequence[int], limits: Sequence[float] | None, weight: Tensor | None, density: bool
) -> Any:
    """The counts alone."""
    return histogramdd(self, list(bins), limits, weight, density)[0]


def bin_edges(
    self: Tensor, bins: Sequence[int], limits: Sequence[float] | None, weight: Tensor | None, density: bool
) -> tuple[Any, ...]:
    """Edges of equal bins per dim, over `limits` or the range of the values."""
    check_counts(self._sig.spec, bins, None if weight is None else weight._sig.spec)
    dims = self.size(-1)
    if limits is not None:
        if len(limits) != 2 * dims:
            raise RuntimeError(
                f"torch.histogramdd: for a {dims}-dimensional histogram range should have {2 * dims} elements, but got "
                f"{len(limits)}"
            )
        pairs = [(limits[2 * index], limits[2 * index + 1]) for index in range(dims)]
    elif self.numel():
        low, high = aten.aminmax(aten.reshape(self, [-1, dims]), dim=0)
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
    else:
        pairs = [(0.0, 1.0)] * dims
    return tuple(
        aten.linspace(*_checked(pair, index), count + 1, dtype=self.dtype, device=self.device)
        for index, (pair, count) in enumerate(zip(pairs, bins, strict=True))
    )


def _checked(pair: tuple[float, float], dim: int) -> tuple[float, float]:
    low, high = pair
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)
