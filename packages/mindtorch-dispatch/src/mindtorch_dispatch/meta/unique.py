"""Meta rules of distinct values: dtypes are known, extents follow from the values."""

from __future__ import annotations

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from .rule import MetaRule
from .support import COMPLEX, refuse


def _three(self: Spec) -> tuple[Spec, Spec, Spec]:
    values, places = (Spec.of(dtype, self.device, (0,)) for dtype in (self.dtype, int64))
    return values, places, places


def _unique(
    self: Spec, sorted_: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Spec, Spec, Spec]:
    refuse(self, "unique", COMPLEX)
    return _three(self)


def _unique_runs(self: Spec, return_inverse: bool = False, return_counts: bool = False) -> tuple[Spec, Spec, Spec]:
    refuse(self, "unique", COMPLEX)
    return _three(self)


def _unique_rows(self: Spec, consecutive: bool) -> tuple[Spec, Spec, Spec]:
    refuse(self, "unique_dim", COMPLEX)
    return _three(self)


unique = MetaRule(_unique)
"""`_unique2`."""

unique_runs = MetaRule(_unique_runs)
"""Elements that differ from the one before."""

unique_rows = MetaRule(_unique_rows)
"""Rows that differ."""
