"""Copies, conversions, fills."""

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import ZERO, derivative

derivative("clone", self=lambda grad: grad)
derivative("_lazy_clone", self=lambda grad: grad)


def _converted_back(grad: Tensor, self_spec: Spec) -> Tensor:
    if grad.dtype.is_complex and not self_spec.dtype.is_complex:
        grad = aten.real(grad)
    back: Tensor = grad.to(self_spec.dtype).to(self_spec.device)
    return back


derivative("_to_copy", self=_converted_back, node="ToCopyBackward0")
derivative(
    "copy_", self=ZERO, src=lambda grad, src_spec: grad.to(src_spec.device), node="torch::autograd::CopyBackwards"
)
derivative("fill.Scalar", self=lambda grad: aten.zeros_like(grad))
derivative(
    "fill.Tensor",
    self=lambda grad: aten.zeros_like(grad),
    value=lambda grad: grad.sum(),
    node="FillBackward1",
)
derivative("fill_.Scalar", self=ZERO, node="FillBackward0")
derivative("fill_.Tensor", self=ZERO, value=lambda grad: grad.sum(), node="FillBackward3")
derivative("zero_", self=ZERO)
