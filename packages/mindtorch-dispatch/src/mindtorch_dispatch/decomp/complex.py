"""Parts of complex numbers."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..typing import Tensor


def real(self: Tensor) -> Any:
    """The real parts, sharing memory; a real tensor itself."""
    return aten.select(aten.view_as_real(self), -1, 0) if self.dtype.is_complex else self


def imag(self: Tensor) -> Any:
    """The imaginary parts, sharing memory."""
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return aten.select(aten.view_as_real(self), -1, 1)


def resolved(self: Tensor) -> Any:
    """`self`: conjugates and negatives are made at once here, none is pending."""
    return self
