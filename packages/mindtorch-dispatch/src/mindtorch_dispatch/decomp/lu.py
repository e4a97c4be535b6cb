"""Solutions, inverses and determinants: the public ops over those that return factors too."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..call import aten
from ..deprecations import warn_of
from ..meta.checks import check
from ..meta.matrices import check_inexact, check_square
from ..typing import Tensor
from .matrices import check_status


def lu_factor(A: Tensor, pivot: bool) -> Any:
    """`linalg_lu_factor`."""
    factors, pivots, info = aten.linalg_lu_factor_ex(A, pivot=pivot, check_errors=False)
    check_status(info, "torch.linalg.lu_factor", len(A.shape) == 2)
    return factors, pivots


def lu_with_info(self: Tensor, pivot: bool, check_errors: bool) -> Any:
    """`_lu_with_info`; a singular matrix is no error here, whatever `check_errors` says."""
    warn_of("lu")
    return aten.linalg_lu_factor_ex(self, pivot=pivot, check_errors=False)


def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """`lu_solve`: the right-hand side comes first."""
    warn_of("lu_solve")
    return aten.linalg_lu_solve(LU_data, LU_pivots, self)


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Any:
    """`linalg_solve_ex`."""
    result, _, _, info = aten._linalg_solve_ex(A, B, left=left, check_errors=False)
    if check_errors:
        check_status(info, "torch.linalg.solve_ex", len(A.shape) == 2)
    return result, info


def solve(A: Tensor, B: Tensor, left: bool) -> Any:
    """`linalg_solve`."""
    result, _, _, info = aten._linalg_solve_ex(A, B, left=left, check_errors=False)
    check_status(info, "torch.linalg.solve", len(A.shape) == 2)
    return result


def inv(A: Tensor) -> Any:
    """`linalg_inv`, `inverse`."""
    result, info = aten.linalg_inv_ex(A, check_errors=False)
    check_status(info, "linalg.inv", len(A.shape) == 2)
    return result


def det(A: Tensor) -> Any:
    """`linalg_det`, `det`."""
    return aten._linalg_det(A)[0]


def slogdet(A: Tensor) -> Any:
    """`linalg_slogdet`, `slogdet`."""
    return aten._linalg_slogdet(A)[:2]


def logdet(self: Tensor) -> Any:
    """`logdet`: nan for a negative determinant."""
    check_square(self, "logdet")
    check_inexact(self, "logdet")
    sign, size = aten._linalg_slogdet(self)[:2]
    if self.dtype.is_complex:
        return aten.add(aten.log(sign), size)
    return aten.where(aten.eq(sign, -1.0), math.nan, size)


def tensorinv(self: Tensor, ind: int) -> Any:
    """`linalg_tensorinv`: the inverse of the map from the last dimensions to the first `ind`."""
    check(ind > 0, lambda: f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = tuple(self.shape)
    check(ind <= len(shape), lambda: f"ArrayRef: invalid slice, N = {ind}; size = {len(shape)}")
    front, back = shape[:ind], shape[ind:]
    rows, columns = math.prod(front), math.prod(back)
    check(
        rows == columns,
        lambda: (
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        ),
    )
    result, info = aten.linalg_inv_ex(aten.reshape(self, (columns, rows)), check_errors=False)
    check_status(info, "inv", True)
    return aten.reshape(result, (*back, *front))


def tensorsolve(self: Tensor, other: Tensor, dims: Sequence[int] | None) -> Any:
    """`linalg_tensorsolve`."""
    moved = self
    if dims is not None:
        count = len(self.shape)
        moved = aten.movedim(self, list(dims), list(range(count - len(dims), count)))
    shape = tuple(moved.shape)[len(other.shape) :]
    columns, rows = math.prod(shape), math.prod(other.shape)
    check(
        columns == rows,
        lambda: (
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {columns} != {rows}"
        ),
    )
    flat = aten.reshape(moved, (columns, columns))
    result = solve(flat, aten.reshape(other, (rows,)), True)
    return aten.reshape(result, shape)
