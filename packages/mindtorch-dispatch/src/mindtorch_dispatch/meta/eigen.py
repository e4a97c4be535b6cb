"""Meta rules of eigenvalues and singular values."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from .checks import check
from .matrices import check_inexact, check_kernel, check_matrix, check_square, column_major, row_major
from .rule import meta_rule


@meta_rule(out=True)
def eigh(A: Spec, UPLO: str = "L", compute_v: bool = True) -> tuple[Spec, Spec]:
    """`_linalg_eigh`: no vectors without `compute_v`."""
    check_square(A, "linalg.eigh")
    check(UPLO[:1].upper() in ("L", "U"), lambda: f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_kernel(A, "linalg_eigh_cpu")
    vectors = column_major(A, A.shape) if compute_v else row_major(A, (0,))
    return row_major(A, A.shape[:-1], A.dtype.to_real()), vectors


def _check_eig(self: Spec) -> None:
    check(
        self.dtype.is_floating_point or self.dtype.is_complex,
        lambda: f"Unknown Complex ScalarType for {self.dtype.scalar_name}",
    )
    check_kernel(self, "linalg_eig_out_cpu")


@meta_rule(out=True)
def eig(self: Spec) -> tuple[Spec, Spec]:
    """`linalg_eig`: complex results."""
    check_square(self, "linalg.eig")
    _check_eig(self)
    dtype = self.dtype.to_complex()
    return row_major(self, self.shape[:-1], dtype), column_major(self, self.shape, dtype)


@meta_rule()
def eigvals(self: Spec) -> Spec:
    """`_linalg_eigvals`."""
    check_square(self, "linalg.eigvals")
    _check_eig(self)
    return row_major(self, self.shape[:-1], self.dtype.to_complex())


@meta_rule(out=True)
def svd(A: Spec, full_matrices: bool = False, compute_uv: bool = True, driver: str | None = None) -> tuple[Spec, ...]:
    """`_linalg_svd`: no vectors without `compute_uv`."""
    check_matrix(A, "linalg.svd")
    check_inexact(A, "linalg.svd", low_precision=True)
    check(
        driver is None or 0 in A.shape,
        lambda: "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
    )
    check_kernel(A, "linalg_svd_cpu")
    batch, (rows, columns) = tuple(A.shape[:-2]), A.shape[-2:]
    inner = min(rows, columns)
    values = row_major(A, (*batch, inner), A.dtype.to_real())
    if not compute_uv:
        return row_major(A, (0,)), values, row_major(A, (0,))
    left = column_major(A, (*batch, rows, rows if full_matrices else inner))
    return left, values, column_major(A, (*batch, columns if full_matrices else inner, columns))
