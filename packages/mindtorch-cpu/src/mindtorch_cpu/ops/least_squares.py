"""Least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import is_vector_rhs, status_error
from mindtorch_storage.strides import broadcast_shapes

from ..lapack import each, routine
from ..register import kernel


def _full_rank(matrix: Any, right: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return the solution for a matrix of full rank; torch's error for another one."""
    rows, columns = matrix.shape
    given = np.zeros((max(rows, columns), right.shape[1]), right.dtype)
    given[:rows] = right
    _, solution, status = routine("gels", matrix.dtype)(matrix, given)
    if status:
        raise status_error("torch.linalg.lstsq", status, _batch_element(index, shape))
    return solution[:columns]


def _batch_element(index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f": (Batch element {int(np.ravel_multi_index(index, shape))})" if shape else ""


def _check_numbers(matrix: Any, right: Any, driver: str, index: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse nan as the routines of torch do, which name the argument by its place."""
    places = (5, 7) if driver == "gels" else (4, 6)
    for operand, place in zip((matrix, right), places, strict=True):
        if np.isnan(operand).any():
            raise RuntimeError(
                f"torch.linalg.lstsq{_batch_element(index, shape)}: Argument {place} has illegal value. Most certainly "
                "there is a bug in the implementation calling the backend library."
            )


def _of_any_rank(matrix: Any, right: Any, cut: float, driver: str) -> tuple[Any, int, Any]:
    """Return solution, rank and singular values (None of gelsy, which has none).

    What the drivers make of a large `cut` differs: gelsd takes one of 1 or more for the machine's precision, gelss finds no
    rank at all, gelsy the rank of a factorization with pivots. Nan for what is not finite, of which they make nothing.
    """
    if not np.isfinite(matrix).all():
        return np.nan, 0, np.nan
    rows, columns = matrix.shape
    if driver == "gelsd" or not right.shape[1]:
        solution, _, rank, found = np.linalg.lstsq(matrix, right, rcond=cut)
        return solution, rank, found
    given = np.zeros((max(rows, columns), right.shape[1]), right.dtype)
    given[:rows] = right
    work = int(np.real(routine(f"{driver}_lwork", matrix.dtype)(rows, columns, right.shape[1], cut)[0]))
    if driver == "gelss":
        _, solution, found, rank, _, status = routine("gelss", matrix.dtype)(matrix, given, cond=cut, lwork=work)
    else:
        free = np.zeros((columns, 1), np.int32)
        _, solution, _, rank, status = routine("gelsy", matrix.dtype)(matrix, given, free, cut, work)
        found = None
    if status:
        raise status_error("torch.linalg.lstsq", status, "")
    return solution[:columns], rank, found


def _outputs(self: Any, b: Any, count: int, driver: str) -> tuple[Any, Any, Any, Any]:
    """Return arrays for solution, residuals, ranks and singular values, empty where a driver gives none."""
    rows, columns = self.shape[-2:]
    own, real = self.shape[:-2], self.real.dtype
    # torch counts the batch by the difference of the dimensions, also of a matrix that has one less.
    batch = broadcast_shapes(own, b.shape[: len(own)])
    solution = np.zeros((*batch, count, max(rows, columns)), self.dtype).swapaxes(-1, -2)[..., :columns, :]
    residuals = np.zeros((*batch, count) if rows > columns and driver != "gelsy" else (0,), real)
    ranks = np.zeros(own if driver != "gels" else (0,), np.int64)
    values = np.zeros((*own, min(rows, columns)) if driver in ("gelsd", "gelss") else (0,), real)
    return solution, residuals, ranks, values


@kernel("linalg_lstsq")
def lstsq(self: Any, b: Any, rcond: float | None, driver: str) -> tuple[Any, Any, Any, Any]:
    """The shortest of the solutions with the least residual; residuals where every matrix has full rank."""
    vector = is_vector_rhs(self, b)
    right = b[..., None] if vector else b
    solution, residuals, ranks, values = _outputs(self, b, right.shape[-1], driver)
    cut = np.finfo(self.dtype).eps * max(self.shape[-2:]) if rcond is None else rcond
    for index, matrix, given in each(solution.shape[:-2], (self, 2), (right, 2)):
        _check_numbers(matrix, given, driver, index, self.shape[:-2])
        if matrix.size == 0:
            rank, found = 0, None
        elif driver == "gels":
            solution[index], rank, found = _full_rank(matrix, given, index, self.shape[:-2]), 0, None
        else:
            solution[index], rank, found = _of_any_rank(matrix, given, cut, driver)
        if residuals.size:
            residuals[index] = np.sum(np.abs(given - matrix @ solution[index]) ** 2, axis=0)
        own = tuple(0 if extent == 1 else at for extent, at in zip(self.shape[:-2], index, strict=True))
        if ranks.size:
            ranks[own] = rank
        if values.size and found is not None:
            values[own] = found
    if driver in ("gelsd", "gelss") and np.any(ranks != self.shape[-1]):
        residuals = np.zeros((0,), residuals.dtype)
    return solution[..., 0] if vector else solution, residuals, ranks, values
