"""Meta rules of triangular systems."""

from __future__ import annotations

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..apart import COPIED, Apart
from ..deprecations import warn_of
from .checks import check
from .matrices import check_kernel, check_matrix, check_square, check_system, column_major
from .rule import Outputs, meta_rule


@meta_rule(out=True, apart=Apart("", {1: COPIED}))
def solve_triangular(self: Spec, B: Spec, upper: bool, left: bool = True, unitriangular: bool = False) -> Outputs:
    """`linalg_solve_triangular`."""
    name = "linalg.solve_triangular"
    check_matrix(self, name)
    check_matrix(B, name, "B")
    check_square(self, name)
    fits = self.shape[-2] == B.shape[-2] if left else self.shape[-1] == B.shape[-1]
    check(
        fits,
        lambda: (
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({self.shape[-2]}x{self.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        ),
    )
    batch = broadcast_shapes(B.shape[:-2], self.shape[:-2])
    check_kernel(self, "triangular_solve_cpu")
    return Outputs(column_major(self, (*batch, *B.shape[-2:])), cast=self.dtype)


@meta_rule(out=True)
def triangular_solve(
    self: Spec, A: Spec, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Spec, Spec]:
    """`triangular_solve`: the solution and a copy of the coefficients."""
    check(
        self.ndim >= 2,
        lambda: (
            f"torch.triangular_solve: Expected b to have at least 2 dimensions, but it has {self.ndim} "
            "dimensions instead"
        ),
    )
    check(
        A.ndim >= 2,
        lambda: (
            f"torch.triangular_solve: Expected A to have at least 2 dimensions, but it has {A.ndim} dimensions instead"
        ),
    )
    check_system(self, A, "triangular_solve")
    batch = broadcast_shapes(self.shape[:-2], A.shape[:-2])
    check_kernel(self, "triangular_solve_cpu")
    warn_of("triangular_solve")
    return column_major(self, (*batch, *self.shape[-2:])), column_major(A, (*batch, *A.shape[-2:]))
