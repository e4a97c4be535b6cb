"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative, joint
from .matrices import adjoint
from .numbers import conj, scaled


def _column_major(spec: Spec) -> bool:
    return spec.stride[0] == 1 and spec.stride[1] == spec.shape[0]


def mm_first(grad: Tensor, first: Spec, second: Tensor, alpha: float = 1) -> Any:
    """Gradient of the left matrix, in the layout that matrix has: the one of `weight.t()` then transposes to dense."""
    if _column_major(first):
        return scaled(aten.t(aten.mm(conj(second), aten.t(grad))), alpha)
    return scaled(aten.mm(grad, aten.t(conj(second))), alpha)


def mm_second(grad: Tensor, first: Tensor, second: Spec, alpha: float = 1) -> Any:
    """Gradient of the right matrix, in the layout that matrix has."""
    if _column_major(second):
        return scaled(aten.t(aten.mm(aten.t(grad), conj(first))), alpha)
    return scaled(aten.mm(aten.t(conj(first)), grad), alpha)


def _spread(grad: Tensor, count: int) -> Any:
    return aten.expand(aten.unsqueeze(grad, 0), (count, *grad.shape))


@joint("i1", "i2", "i3")
def trilinear(
    grad: Tensor,
    needs: Sequence[bool],
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
) -> Any:
    """The gradient takes the operand's place, what was summed is now inserted."""
    return (
        aten._trilinear(grad, conj(i2), conj(i3), sumdim, expand2, expand3, expand1) if needs[0] else None,
        aten._trilinear(conj(i1), grad, conj(i3), expand1, sumdim, expand3, expand2) if needs[1] else None,
        aten._trilinear(conj(i1), conj(i2), grad, expand1, expand2, sumdim, expand3) if needs[2] else None,
    )


derivative(
    "mm",
    self=lambda grad, self_spec, mat2: mm_first(grad, self_spec, mat2),
    mat2=lambda grad, self, mat2_spec: mm_second(grad, self, mat2_spec),
)
derivative(
    "bmm",
    self=lambda grad, mat2: aten.bmm(grad, adjoint(mat2)),
    mat2=lambda grad, self: aten.bmm(adjoint(self), grad),
)
derivative(
    "mv",
    self=lambda grad, vec: aten.outer(grad, conj(vec)),
    vec=lambda grad, self: aten.mv(aten.t(conj(self)), grad),
)
derivative(
    "dot",
    self=lambda grad, tensor: aten.mul(grad, conj(tensor)),
    tensor=lambda grad, self: aten.mul(grad, conj(self)),
)
derivative("vdot", self=lambda grad, other: aten.mul(conj(grad), other), other=lambda grad, self: aten.mul(grad, self))
derivative(
    "addmm",
    self=lambda grad, beta: scaled(grad, beta),
    mat1=lambda grad, mat1_spec, mat2, alpha: mm_first(grad, mat1_spec, mat2, alpha),
    mat2=lambda grad, mat1, mat2_spec, alpha: mm_second(grad, mat1, mat2_spec, alpha),
)
derivative(
    "baddbmm",
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: scaled(aten.bmm(grad, adjoint(batch2)), alpha),
    batch2=lambda grad, batch1, alpha: scaled(aten.bmm(adjoint(batch1), grad), alpha),
)
derivative(
    "addbmm",
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: scaled(aten.bmm(_spread(grad, batch2.shape[0]), adjoint(batch2)), alpha),
    batch2=lambda grad, batch1, alpha: scaled(aten.bmm(adjoint(batch1), _spread(grad, batch1.shape[0])), alpha),
)
derivative(
    "addmv",
    self=lambda grad, beta: scaled(grad, beta),
    mat=lambda grad, vec, alpha: scaled(aten.outer(grad, conj(vec)), alpha),
    vec=lambda grad, mat, alpha: scaled(aten.mv(aten.t(conj(mat)), grad), alpha),
)
derivative(
    "addr",
    self=lambda grad, beta: scaled(grad, beta),
    vec1=lambda grad, vec2, alpha: scaled(aten.mv(grad, conj(vec2)), alpha),
    vec2=lambda grad, vec1, alpha: scaled(aten.mv(aten.t(grad), conj(vec1)), alpha),
)
derivative(
    "linalg_cross",
    self=lambda grad, other, dim: aten.linalg_cross(conj(other), grad, dim=dim),
    other=lambda grad, self, dim: aten.linalg_cross(grad, conj(self), dim=dim),
)

derivative("_trilinear", trilinear)
derivative(
    "_grouped_mm",
    self=lambda grad, mat2, offs: aten._grouped_mm(grad, mat2.transpose(-2, -1), offs),
    mat2=lambda grad, self, offs: aten._grouped_mm(self.transpose(-2, -1), grad, offs),
)
