"""Meta rules of LU factors and of what is computed with them."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import int32
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from .checks import check, shape_text
from .matrices import (
    check_dims,
    check_inexact,
    check_kernel,
    check_matrix,
    check_same_dtype,
    check_square,
    column_major,
    info_spec,
    is_vector_rhs,
    pivots_spec,
    row_major,
)
from .rule import meta_rule


@meta_rule(out=True)
def factor_ex(A: Spec, pivot: bool = True, check_errors: bool = False) -> tuple[Spec, Spec, Spec]:
    """`linalg_lu_factor_ex`."""
    check_dims(A, "torch.lu_factor")
    check_kernel(A, "lu_cpu")
    check(pivot, lambda: "linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return column_major(A, A.shape), pivots_spec(A), info_spec(A)


def _triple(self: Spec) -> tuple[Spec, Spec, Spec]:
    batch, (rows, columns) = tuple(self.shape[:-2]), self.shape[-2:]
    inner = min(rows, columns)
    return (
        row_major(self, (*batch, rows, rows)),
        row_major(self, (*batch, rows, inner)),
        row_major(self, (*batch, inner, columns)),
    )


@meta_rule(out=True)
def lu(A: Spec, pivot: bool = True) -> tuple[Spec, Spec, Spec]:
    """`linalg_lu`: permutation, lower, upper."""
    check_dims(A, "linalg.lu")
    check_kernel(A, "lu_cpu")
    check(pivot, lambda: "linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return _triple(A)


@meta_rule(out=True)
def unpack(LU_data: Spec, LU_pivots: Spec, unpack_data: bool = True, unpack_pivots: bool = True) -> tuple[Spec, ...]:
    """`lu_unpack`: empty tensors for what is not asked for."""
    check_dims(LU_data, "torch.lu_unpack")
    if unpack_pivots:
        check(
            LU_pivots.dtype is int32,
            lambda: (
                "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
                "function is intended to be used with the output produced by torch.linalg.lu_factor"
            ),
        )
    empty = row_major(LU_data, (0,))
    permutation, lower, upper = _triple(LU_data)
    return permutation if unpack_pivots else empty, lower if unpack_data else empty, upper if unpack_data else empty


@meta_rule(out=True)
def lu_solve(LU: Spec, pivots: Spec, B: Spec, left: bool = True, adjoint: bool = False) -> Spec:
    """`linalg_lu_solve`."""
    name = "torch.linalg.lu_solve"
    check_inexact(LU, name, low_precision=True)
    check(
        LU.dtype is B.dtype,
        lambda: (
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {LU.dtype.scalar_name} "
            f"and B of type {B.dtype.scalar_name} instead"
        ),
    )
    check(pivots.dtype is int32, lambda: "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    check_square(LU, name)
    _check_right(LU, B, left, "linalg.lu_solve")
    check(
        LU.shape[-1] == pivots.shape[-1],
        lambda: "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix",
    )
    check(
        LU.shape[:-1] == pivots.shape,
        lambda: (
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{shape_text(pivots.shape)} instead"
        ),
    )
    check_kernel(LU, "linalg.lu_solve_cpu")
    batch = broadcast_shapes(B.shape[:-2], LU.shape[:-2])
    return _solution(B, (*batch, *B.shape[-2:]), left)


def _solution(B: Spec, shape: Sequence[int], left: bool) -> Spec:
    return column_major(B, shape) if left else row_major(B, shape)


def _check_right(A: Spec, B: Spec, left: bool, name: str) -> None:
    check_matrix(B, name, "B")
    fits = A.shape[-2] == B.shape[-2] if left else A.shape[-1] == B.shape[-1]
    check(
        fits,
        lambda: (
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        ),
    )


@meta_rule(out=True)
def solve_ex(A: Spec, B: Spec, left: bool = True, check_errors: bool = False) -> tuple[Spec, ...]:
    """`_linalg_solve_ex`: solution, factors, exchanges, status."""
    check_inexact(A, "linalg.solve", low_precision=True)
    check_same_dtype(A, B, "linalg.solve")
    vector = is_vector_rhs(A, B)
    matrix = B.with_(shape=(*B.shape, 1)) if vector else B
    check_square(A, "linalg.solve")
    _check_right(A, matrix, left, "linalg.solve")
    check(
        left or not vector,
        lambda: (
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        ),
    )
    batch = broadcast_shapes(matrix.shape[:-2], A.shape[:-2])
    check_kernel(A, "lu_cpu")
    shape = (*batch, *matrix.shape[-2:])
    if vector:
        result = column_major(B, shape[:-1]) if len(shape) > 2 else row_major(B, shape[:-1])
    else:
        result = _solution(B, shape, left)
    factors = column_major(A, A.shape)
    return result, factors, pivots_spec(A), info_spec(A)


@meta_rule(out=True)
def inv_ex(A: Spec, check_errors: bool = False) -> tuple[Spec, Spec]:
    """`linalg_inv_ex`."""
    check_square(A, "linalg.inv")
    check_inexact(A, "linalg.inv")
    return column_major(A, A.shape), info_spec(A)


@meta_rule(out=True)
def det(A: Spec) -> tuple[Spec, Spec, Spec]:
    """`_linalg_det`."""
    check_square(A, "linalg.det")
    check_inexact(A, "linalg.det", low_precision=True)
    check_kernel(A, "lu_cpu")
    return row_major(A, A.shape[:-2]), column_major(A, A.shape), pivots_spec(A)


@meta_rule(out=True)
def slogdet(A: Spec) -> tuple[Spec, Spec, Spec, Spec]:
    """`_linalg_slogdet`."""
    check_square(A, "linalg.slogdet")
    check_inexact(A, "linalg.slogdet")
    shape = A.shape[:-2]
    real = row_major(A, shape, A.dtype.to_real())
    return row_major(A, shape), real, column_major(A, A.shape), pivots_spec(A)
