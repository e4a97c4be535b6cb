"""Meta rules of factors of symmetric matrices that need not be positive."""

from __future__ import annotations

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from .checks import check, shape_text, wrap_dim
from .matrices import check_inexact, check_kernel, check_square, check_system, column_major, info_spec, pivots_spec
from .rule import meta_rule


@meta_rule(out=True)
def ldl_factor(self: Spec, hermitian: bool = False, check_errors: bool = False) -> tuple[Spec, Spec, Spec]:
    """`linalg_ldl_factor_ex`."""
    name = "torch.linalg.ldl_factor_ex"
    check_square(self, name)
    check_inexact(self, name, low_precision=True)
    check_kernel(self, "ldl_factor_kernel_cpu")
    return column_major(self, self.shape), pivots_spec(self), info_spec(self)


@meta_rule(out=True)
def ldl_solve(LD: Spec, pivots: Spec, B: Spec, hermitian: bool = False) -> Spec:
    """`linalg_ldl_solve`."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name)
    check_inexact(LD, name, low_precision=True)
    wrap_dim(-2, B.ndim)
    check(
        pivots.shape == LD.shape[:-1],
        lambda: (
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{shape_text(pivots.shape)} instead"
        ),
    )
    check(
        pivots.dtype.name in ("int32", "int64"),
        lambda: f"{name}: Expected pivots to be integers. Got {pivots.dtype.scalar_name}",
    )
    check_system(B, LD, name)
    check_kernel(LD, "ldl_solve_kernel_cpu")
    batch = broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    return column_major(B, (*batch, *B.shape[-2:]))
