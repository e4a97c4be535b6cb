"""Copies, conversions, fills."""

from mindtorch_dispatch.call import aten

from ..derivative import ZERO, derivative

derivative("clone", self=lambda grad: grad)
derivative(
    "_to_copy", self=lambda grad, self_spec: grad.to(self_spec.dtype).to(self_spec.device), node="ToCopyBackward0"
)
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
