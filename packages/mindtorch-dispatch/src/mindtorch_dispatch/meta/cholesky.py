"""Meta rules of Cholesky factors."""

from __future__ import annotations

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..deprecations import warn_of
from .checks import check
from .matrices import check_inexact, check_kernel, check_square, check_system, column_major, info_spec
from .rule import meta_rule


@meta_rule(out=True)
def cholesky_ex(self: Spec, upper: bool = False, check_errors: bool = False) -> tuple[Spec, Spec]:
    """`linalg_cholesky_ex`: the factor, and the order of the first minor that is not positive."""
    check_square(self, "linalg.cholesky")
    check_inexact(self, "linalg.cholesky", low_precision=True)
    check_kernel(self, "cholesky_cpu")
    return column_major(self, self.shape), info_spec(self)


@meta_rule(out=True)
def cholesky(self: Spec, upper: bool = False) -> Spec:
    """`cholesky`."""
    warn_of("cholesky")
    if self.numel == 0:
        return self.contiguous()
    check_square(self, "cholesky")
    check_kernel(self, "cholesky_cpu")
    return column_major(self, self.shape)


@meta_rule(out=True)
def cholesky_inverse(self: Spec, upper: bool = False) -> Spec:
    """`cholesky_inverse`."""
    check_square(self, "cholesky_inverse")
    check_kernel(self, "cholesky_inverse_out_cpu")
    return column_major(self, self.shape)


@meta_rule(out=True)
def cholesky_solve(self: Spec, input2: Spec, upper: bool = False) -> Spec:
    """`cholesky_solve`: the right-hand side comes first."""
    check(self.ndim >= 2, lambda: f"b should have at least 2 dimensions, but has {self.ndim} dimensions instead")
    check(input2.ndim >= 2, lambda: f"u should have at least 2 dimensions, but has {input2.ndim} dimensions instead")
    check_system(self, input2, "cholesky_solve")
    batch = broadcast_shapes(self.shape[:-2], input2.shape[:-2])
    check_kernel(self, "cholesky_solve_cpu")
    return column_major(self, (*batch, *self.shape[-2:]))
