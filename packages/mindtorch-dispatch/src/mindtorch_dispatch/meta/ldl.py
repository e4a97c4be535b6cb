"""Meta rules of factors of symmetric matrices that need not be positive."""

from __future__ import annotations

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from .checks import check, shape_text
from .matrices import check_inexact, check_square, column_major, info_spec, pivots_spec
from .rule import meta_rule


def check_lapack(self: Spec, kernel: str) -> None:
    """Raise torch's error for a dtype that LAPACK does not know."""
    check(
        self.dtype.to_real().itemsize >= 4,
        lambda: f"\"{kernel}\" not implemented for '{self.dtype.scalar_name}'",
        NotImplementedError,
    )


@meta_rule(out=True, exact=True)
def factor_ex(self: Spec, hermitian: bool = False, check_errors: bool = False) -> tuple[Spec, Spec, Spec]:
    """`linalg_ldl_factor_ex`."""
    check_square(self, "torch.linalg.ldl_factor_ex")
    check_inexact(self, "torch.linalg.ldl_factor_ex", low_precision=True)
    check_lapack(self, "ldl_factor_kernel_cpu")
    return column_major(self, self.shape), pivots_spec(self), info_spec(self)


@meta_rule(out=True, exact=True)
def solve(LD: Spec, pivots: Spec, B: Spec, hermitian: bool = False) -> Spec:
    """`linalg_ldl_solve`."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name)
    check_inexact(LD, name, low_precision=True)
    check(
        LD.dtype is B.dtype,
        lambda: (
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.scalar_name} and A of type "
            f"{LD.dtype.scalar_name} instead."
        ),
    )
    check(B.ndim >= 2, lambda: "Dimension out of range (expected to be in range of [-1, 0], but got -2)", IndexError)
    check(
        B.shape[-2] == LD.shape[-1],
        lambda: (
            f"Incompatible matrix sizes for {name}: each A matrix is {LD.shape[-1]} by {LD.shape[-1]} but each b "
            f"matrix is {B.shape[-2]} by {B.shape[-1]}"
        ),
    )
    check(
        LD.shape[:-1] == pivots.shape,
        lambda: (
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{shape_text(pivots.shape)} instead"
        ),
    )
    check(
        not (pivots.dtype.is_floating_point or pivots.dtype.is_complex or pivots.dtype.name == "bool"),
        lambda: f"{name}: Expected pivots to be integers. Got {pivots.dtype.scalar_name}",
    )
    check_lapack(LD, "ldl_solve_kernel_cpu")
    batch = broadcast_shapes(tuple(LD.shape[:-2]), tuple(B.shape[:-2]))
    return column_major(B, (*batch, *B.shape[-2:]))
