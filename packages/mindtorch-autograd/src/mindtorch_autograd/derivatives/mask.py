"""Elements chosen by masks."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..derivative import derivative
from .view import zeros_of


def masked_select_grad(grad: Tensor, self_spec: Spec, mask: Tensor) -> Any:
    """The gradient back at the places the mask holds."""
    zeros = zeros_of(grad, self_spec)
    shape = list(broadcast_shapes(self_spec.shape, mask.shape))
    return aten.masked_scatter(aten.expand(zeros, shape), mask, grad)


def masked_scatter_source(grad: Tensor, mask: Tensor, source_spec: Spec) -> Any:
    """The gradient at the places the mask holds, in the source's shape; unused elements get zero."""
    chosen = aten.masked_select(grad, mask)
    missing = source_spec.numel - chosen.numel()
    if missing:
        chosen = aten.cat([chosen, aten.zeros([missing], dtype=grad.dtype, device=grad.device)], 0)
    return aten.reshape(chosen, list(source_spec.shape))


derivative("masked_fill.Scalar", self=lambda grad, mask: aten.masked_fill(grad, mask, 0))
derivative(
    "masked_fill.Tensor",
    self=lambda grad, mask: aten.masked_fill(grad, mask, 0),
    value=lambda grad, mask: aten.sum(aten.where(mask, grad, 0)),
    node="MaskedFillBackward1",
)
derivative("masked_select", self=masked_select_grad)
derivative(
    "masked_scatter",
    self=lambda grad, mask: aten.masked_fill(grad, mask, 0),
    source=lambda grad, mask, source_spec: masked_scatter_source(grad, mask, source_spec),
)
