"""Orthogonal factors by their older names."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..deprecations import warn_of
from ..typing import Tensor


def qr(self: Tensor, some: bool) -> Any:
    """`qr`."""
    warn_of("qr")
    return aten.linalg_qr(self, "reduced" if some else "complete")


def orgqr(self: Tensor, input2: Tensor) -> Any:
    """`orgqr`."""
    return aten.linalg_householder_product(self, input2)
