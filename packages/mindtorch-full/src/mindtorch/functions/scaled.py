"""Products of matrices of float8 numbers with scales. They raise: they are kernels of accelerators."""

from __future__ import annotations

from typing import Any, NoReturn

from .._naming import adopt

__all__ = ["_scaled_grouped_mm", "_scaled_mm", "_scaled_mm_v2"]


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.{name}: scaled products of float8 matrices are not offered")


def _scaled_mm(input: Any, mat2: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: a product with scales."""
    _refuse("_scaled_mm")


def _scaled_mm_v2(input: Any, mat2: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: a product with scales by recipes."""
    _refuse("_scaled_mm_v2")


def _scaled_grouped_mm(input: Any, mat2: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raises: products of groups with scales."""
    _refuse("_scaled_grouped_mm")


adopt(globals(), "torch")
