"""Elementwise functions of one operand composed of others."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_storage.deferred import thread
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.layout import strided
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..typing import Tensor


def conj(self: TensorBase) -> Any:
    """A view of complex conjugates; a real tensor itself.

    The conjugates are made at once where a view of them is not offered: on devices other than the CPU, for layouts other
    than dense, and while calls are recorded.
    """
    spec = self._sig.spec
    if not spec.dtype.is_complex:
        return self
    if spec.device.type != "cpu" or spec.layout is not strided or self._wraps or thread.pipe is not None:
        return aten.conj_physical(self)
    return aten._conj(self)


def positive(self: Tensor) -> Any:
    """`self`; torch refuses bool."""
    if self.dtype is bool_dtype:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


def square(self: Tensor) -> Any:
    """`self ** 2`."""
    return aten.pow(self, 2)


def deg2rad(self: Tensor) -> Any:
    """Degrees to radians."""
    return _scaled(self, math.pi / 180.0, "deg2rad")


def rad2deg(self: Tensor) -> Any:
    """Radians to degrees."""
    return _scaled(self, 180.0 / math.pi, "rad2deg")


def _scaled(self: Tensor, factor: float, name: str) -> Any:
    if self.dtype.is_complex:
        raise RuntimeError(f"{name} is not supported for complex tensors.")
    return aten.mul(self, factor)


def isreal(self: Tensor) -> Any:
    """True where the imaginary part is zero."""
    if self.dtype.is_complex:
        return aten.eq(aten.imag(self), 0)
    return aten.ones_like(self, dtype=bool_dtype)
