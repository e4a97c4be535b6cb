"""Factors of symmetric matrices with their errors raised."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..typing import Tensor
from .matrices import check_status


def ldl_factor(self: Tensor, hermitian: bool) -> tuple[Any, Any]:
    """`linalg_ldl_factor`."""
    factors, pivots, info = aten.linalg_ldl_factor_ex(self, hermitian=hermitian, check_errors=False)
    check_status(info, "torch.linalg.ldl_factor", len(self.shape) == 2)
    return factors, pivots
