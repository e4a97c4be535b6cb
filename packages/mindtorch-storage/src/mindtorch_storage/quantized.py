"""Quantized tensors: the spec of their geometry, what makes numbers of integers, and the object where others have an array.

A quantized tensor is a `TensorBase` whose signature's spec is a `QuantizedSpec` and whose `_array` is a `QuantizedArray`. Its
storage, offset and version counter are those of the plain tensor of integers that it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .device import device as Device
from .dtype import dtype as Dtype
from .dtype import int8, int32, qint8, qint32, quint2x4, quint4x2, quint8, uint8
from .qscheme import QSCHEMES
from .qscheme import qscheme as QScheme
from .spec import INTERN_LIMIT, Spec
from .strides import contiguous_strides
from .tensor_base import TensorBase

INTEGERS: dict[Dtype, Dtype] = {quint8: uint8, qint8: int8, qint32: int32, quint4x2: uint8, quint2x4: uint8}
"""Quantized dtype to the dtype of the integers that it keeps."""

RANGES: dict[Dtype, tuple[int, int]] = {
    quint8: (0, 255),
    qint8: (-128, 127),
    qint32: (-(2**31), 2**31 - 1),
    quint4x2: (0, 15),
    quint2x4: (0, 3),
}
"""Quantized dtype to the least and the largest integer that it keeps."""

PACKED: dict[Dtype, int] = {quint4x2: 2, quint2x4: 4}
"""Elements in a byte, of the dtypes that keep several there."""

PER_TENSOR = QSCHEMES["per_tensor_affine"]
PER_CHANNEL = QSCHEMES["per_channel_affine"]
FLOAT_PARAMETERS = QSCHEMES["per_channel_affine_float_qparams"]

_interned: dict[tuple[Any, ...], QuantizedSpec] = {}


class QuantizedSpec(Spec):
    """Geometry of a quantized tensor. Scales and zero points are not part of it, so that plans do not depend on them."""

    __slots__ = ()

    @staticmethod
    def of_integers(
        dtype: Dtype, device: Device, shape: Sequence[int], stride: tuple[int, ...] | None = None
    ) -> QuantizedSpec:
        """Return the interned spec of this geometry; `stride` defaults to the contiguous one."""
        key = (dtype, device, tuple(shape), stride)
        spec = _interned.get(key)
        if spec is None:
            if len(_interned) >= INTERN_LIMIT:
                _interned.clear()  # costs later calls a new plan, never a wrong answer
            made = QuantizedSpec(dtype, device, key[2], contiguous_strides(key[2]) if stride is None else stride)
            spec = _interned.setdefault(key, made)
        return spec


class Quantizer:
    """How integers stand for numbers: `(integer - zero_point) * scale`, with one pair or one for each index of `axis`."""

    __slots__ = ("axis", "scale", "scheme", "zero_point")

    scheme: QScheme
    scale: Any
    zero_point: Any
    axis: int | None

    def __init__(self, scale: float | TensorBase, zero_point: float | TensorBase, axis: int | None = None) -> None:
        self.scale = scale
        self.zero_point = zero_point
        self.axis = axis
        if not isinstance(zero_point, TensorBase):
            self.scheme = PER_TENSOR
        else:
            self.scheme = FLOAT_PARAMETERS if zero_point.dtype.is_floating_point else PER_CHANNEL


class QuantizedArray:
    """The plain tensor of `integers`, and the `quantizer` that says what numbers they are."""

    __slots__ = ("integers", "quantizer")

    def __init__(self, integers: TensorBase, quantizer: Quantizer) -> None:
        self.integers = integers
        self.quantizer = quantizer

    @property
    def storage(self) -> Any:
        """The storage of the integers."""
        return self.integers._materialized_storage()

    def to_host(self) -> Any:
        """Return the integers as a numpy array."""
        return self.integers._host_array()
