"""Cholesky factors with their errors raised."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..typing import Tensor
from .matrices import check_status


def cholesky(self: Tensor, upper: bool) -> Any:
    """`linalg_cholesky`."""
    factor, info = aten.linalg_cholesky_ex(self, upper=upper, check_errors=False)
    check_status(info, "linalg.cholesky", len(self.shape) == 2)
    return factor
