"""Meta rules of functions of square matrices."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from .checks import check
from .matrices import check_inexact, check_square, row_major
from .pointwise import int_or_bool_to_long
from .rule import Outputs, meta_rule
from .support import BOOL_NAMES, WIDE_UNSIGNED, refuse


@meta_rule(out=False)
def matrix_exp(self: Spec) -> Spec:
    """`linalg_matrix_exp`."""
    check_square(self, "linalg.matrix_exp")
    check_inexact(self, "linalg.matrix_exp", low_precision=True)
    return row_major(self, self.shape)


@meta_rule(out=True)
def trace(self: Spec) -> Outputs:
    """`trace`."""
    refuse(self, "trace", BOOL_NAMES | WIDE_UNSIGNED)
    check(self.ndim == 2, lambda: f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    dtype = int_or_bool_to_long(self.dtype)
    return Outputs(Spec.of(dtype, self.device, ()), cast=dtype)
