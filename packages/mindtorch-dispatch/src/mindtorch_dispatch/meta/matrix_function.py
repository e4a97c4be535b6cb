"""Meta rules of functions of square matrices."""

from __future__ import annotations

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from .checks import check
from .matrices import check_inexact, check_square, row_major
from .rule import meta_rule


@meta_rule()
def matrix_exp(self: Spec) -> Spec:
    """`linalg_matrix_exp`."""
    check_square(self, "linalg.matrix_exp")
    check_inexact(self, "linalg.matrix_exp", low_precision=True)
    return row_major(self, self.shape)


@meta_rule(out=True, exact=True)
def trace(self: Spec) -> Spec:
    """`trace`: integers add up as int64."""
    check(self.ndim == 2, lambda: f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    inexact = self.dtype.is_floating_point or self.dtype.is_complex
    return Spec.of(self.dtype if inexact else int64, self.device, ())
