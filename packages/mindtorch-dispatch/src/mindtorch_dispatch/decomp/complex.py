"""Parts of complex numbers."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as boolean
from mindtorch_storage.layout import strided
from mindtorch_storage.tensor_base import MATH_BITS, TensorBase, array_of_storage, conceal, has_math_bits, math_bits

from ..call import aten
from ..meta.support import lacking
from ..typing import Tensor


def real(self: Tensor) -> Any:
    """The real parts, sharing memory; a real tensor itself."""
    if not self.dtype.is_complex:
        return self
    if math_bits(self).conj:
        self = aten._conj(self)
    elif _holds_conjugates(self):
        self = aten.clone(self)
    return aten.select(aten.view_as_real(self), -1, 0)


def _holds_conjugates(self: Tensor) -> bool:
    """True for a batched tensor over one that shows conjugates. Its parts are copied, as a batch has no bits of its own."""
    held: object = self
    while isinstance(held, TensorBase) and held._wraps:
        held = getattr(held._storage, "value", None)
    return math_bits(held).conj


def imag(self: Tensor) -> Any:
    """The imaginary parts, sharing memory."""
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    if math_bits(self).conj:
        return aten._neg_view(aten.select(aten.view_as_real(aten._conj(self)), -1, 1))
    return aten.select(aten.view_as_real(aten.clone(self) if _holds_conjugates(self) else self), -1, 1)


def resolved(self: Tensor) -> Any:
    """`self`, or a copy of a tensor that shows the conjugates of what its storage holds."""
    return aten.clone(self) if math_bits(self).conj or _holds_conjugates(self) else self


def without_negative_bit(self: Tensor) -> Any:
    """`self`, or a copy of a tensor that shows the negatives of what its storage holds."""
    return aten.clone(self) if math_bits(self).neg else self


def conjugated_copy(self: Tensor) -> Any:
    """The conjugates, in memory of their own for real tensors too."""
    return aten.conj_physical(self) if self.dtype.is_complex else aten.clone(self)


def conj_view(self: Tensor) -> Any:
    """A view that shows the conjugates of the elements; of such a view, the elements themselves."""
    bits = math_bits(self)
    return _showing(self, not bits.conj, bits.neg)


def neg_view(self: Tensor) -> Any:
    """A view that shows the negatives of the elements; of such a view, the elements themselves."""
    spec = self._sig.spec
    if spec.device.type != "cpu" or spec.layout is not strided:
        raise NotImplementedError("aten::_neg_view: views of negatives are offered on the CPU alone, for dense tensors")
    if spec.dtype is boolean:
        raise lacking(spec.dtype, "neg_cpu")
    bits = math_bits(self)
    return _showing(self, bits.conj, not bits.neg)


def _showing(self: Tensor, conj: bool, neg: bool) -> Any:
    """Return a view of a tensor with these bits."""
    view = aten.alias(self)
    storage = view._materialized_storage()
    if conj or neg:
        if has_math_bits(view):
            view._pipe = MATH_BITS[conj, neg]
            return view
        return conceal(view, MATH_BITS[conj, neg])
    view._array = array_of_storage(storage, view._sig.spec, view._offset)
    view._pipe = None
    return view
