"""Parts of complex numbers."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as boolean
from mindtorch_storage.layout import strided
from mindtorch_storage.tensor_base import NEGATED, array_of_storage, conceal, is_negated

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
    """`self`: conjugates are made at once here, none is pending."""
    return self


def without_negative_bit(self: Tensor) -> Any:
    """`self`, or a copy of a tensor that shows the negatives of what its storage holds."""
    return aten.clone(self) if is_negated(self) else self


def neg_view(self: Tensor) -> Any:
    """A view that shows the negatives of the elements; of such a view, the elements themselves."""
    spec = self._sig.spec
    if spec.device.type != "cpu" or spec.layout is not strided:
        raise NotImplementedError("aten::_neg_view: views of negatives are offered on the CPU alone, for dense tensors")
    if spec.dtype is boolean:
        raise NotImplementedError("\"neg_cpu\" not implemented for 'Bool'")
    view = aten.alias(self)
    if not is_negated(self):
        view._materialized_storage()
        return conceal(view, NEGATED)
    view._array = array_of_storage(view._materialized_storage(), spec, view._offset)
    view._pipe = None
    return view
