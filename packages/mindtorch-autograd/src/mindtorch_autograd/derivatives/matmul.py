"""Matrix products."""

from mindtorch_dispatch.call import aten

from ..derivative import derivative
from .numbers import conj

derivative(
    "mm",
    self=lambda grad, mat2: aten.mm(grad, aten.t(conj(mat2))),
    mat2=lambda grad, self: aten.mm(aten.t(conj(self)), grad),
)
