"""Linear algebra: these ops take any number of leading batch dimensions themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...batching.geometry import batched, example_shape, front, is_tensor, padded, rank
from ...batching.levels import Batch
from ...batching.steps import invoke
from ...meta.checks import check
from ...table import OpRow
from ...typing import Tensor
from .table import rule


def _result(result: Sequence[Tensor]) -> Any:
    return result, [0] * len(result) if isinstance(result, (tuple, list)) else 0


@rule(
    "linalg_cholesky_ex", "cholesky", "cholesky_inverse", "_linalg_eigh", "linalg_eig", "_linalg_eigvals", "_linalg_svd",
    "linalg_ldl_factor_ex", "linalg_lu_factor_ex", "linalg_lu", "linalg_inv_ex", "_linalg_det", "_linalg_slogdet",
    "linalg_matrix_exp", "linalg_qr", "geqrf", "pixel_shuffle", "pixel_unshuffle",
)  # fmt: skip
def of_matrix(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops of one matrix, or of the last three dimensions."""
    least = 3 if row.packet.startswith("pixel") else 2
    ndim = rank(values[0], dims[0])
    check(
        ndim >= least,
        lambda: (
            f"{row.packet}: The input tensor A must have at least 2 dimensions."
            if least == 2
            else f"{row.packet} expects input to have at least 3 dimensions, but got input with {ndim} dimension(s)"
        ),
    )
    return _result(invoke(row, [front(values[0], dims[0]), *values[1:]]))


@rule(
    "cholesky_solve", "linalg_ldl_solve", "linalg_lu_solve", "linalg_householder_product", "ormqr",
    "linalg_solve_triangular", "triangular_solve", "lu_unpack",
)  # fmt: skip
def of_matrices(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops of several matrices, whose leading dimensions broadcast."""
    tails = [1 if row.schema.arguments[at].name in ("pivots", "LU_pivots", "tau") or
             (row.packet == "ormqr" and at == 1) else 2 for at in range(len(values))]  # fmt: skip
    most = max(rank(v, d) - tail for v, d, tail in zip(values, dims, tails, strict=True) if is_tensor(v))
    made = [
        padded(batched(value, dim, batch.size), most + tail) if is_tensor(value) else value
        for value, dim, tail in zip(values, dims, tails, strict=True)
    ]
    return _result(invoke(row, made))


@rule("_linalg_solve_ex")
def solve(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`solve`: the right side of an example is a vector when it has one dimension less than a stack of matrices."""
    matrix, side, *rest = values
    lead, other = rank(matrix, dims[0]), rank(side, dims[1])
    vector = other == 1 or (other == lead - 1 and example_shape(side, dims[1]) == example_shape(matrix, dims[0])[:-1])
    matrix, side = batched(matrix, dims[0], batch.size), batched(side, dims[1], batch.size)
    if vector and other < lead - 1:
        side = padded(side, lead - 1).expand(list(matrix.shape[:-1]))
    elif not vector and other != lead:
        most = max(lead, other)
        matrix, side = padded(matrix, most), padded(side, most)
    return _result(invoke(row, [matrix, side, *rest]))


@rule("_linalg_check_errors")
def check_errors(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The errors that a factorization reports."""
    return invoke(row, [front(values[0], dims[0]), values[1], False]), None
