"""Distinct values along a dim, by rows."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import wrap_dim
from ..typing import Tensor


def unique_pair(self: Tensor, sorted_: bool, return_inverse: bool) -> Any:
    """Distinct values and, when asked, where each element's is."""
    return aten._unique2(self, sorted_, return_inverse)[:2]


def _by_rows(self: Tensor, dim: int, consecutive: bool) -> Any:
    dim = wrap_dim(dim, self.ndim, scalar=False)
    if self.numel() == 0:
        empty = sum(extent == 0 for extent in self.shape)
        if self.size(dim) == 0 and empty > 1:
            raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
        if self.size(dim) != 0:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    front = aten.movedim(self, dim, 0)
    values, inverse, counts = aten._unique_rows(aten.contiguous(front), consecutive)
    return aten.movedim(values, 0, dim), inverse, counts


def unique_dim(self: Tensor, dim: int, sorted_: bool, return_inverse: bool, return_counts: bool) -> Any:
    """Distinct slices along `dim`, ordered."""
    return _by_rows(self, dim, False)


def unique_dim_consecutive(self: Tensor, dim: int, return_inverse: bool, return_counts: bool) -> Any:
    """Slices along `dim` without repetitions of the one before."""
    return _by_rows(self, dim, True)


def unique_consecutive(self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None) -> Any:
    """Elements, or slices along `dim`, without repetitions of the one before."""
    if dim is None or (self.ndim == 1 and wrap_dim(dim, 1) == 0):
        return aten._unique_runs(self, return_inverse, return_counts)
    return _by_rows(self, dim, True)
