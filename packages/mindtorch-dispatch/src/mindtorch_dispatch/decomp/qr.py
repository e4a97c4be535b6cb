"""Orthogonal factors by their older names."""

from __future__ import annotations

from typing import Any

from ..call import aten


def qr(self: Any, some: bool) -> Any:
    """`qr`."""
    return aten.linalg_qr(self, "reduced" if some else "complete")


def orgqr(self: Any, input2: Any) -> Any:
    """`orgqr`."""
    return aten.linalg_householder_product(self, input2)
