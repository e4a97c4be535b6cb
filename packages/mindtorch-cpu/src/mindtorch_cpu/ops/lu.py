"""LU factors, solutions, inverses, determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import is_vector_rhs, status_error

from ..lapack import check_pivots, each, factor, parity, permutation, routine, solve_factored
from ..register import kernel
from .cholesky import first_failure


@kernel("linalg_lu_factor_ex")
def factor_ex(outs: Any, A: Any, pivot: bool, check_errors: bool) -> None:
    """Factors in one matrix, exchanges, status."""
    outs[0][...], outs[1][...], outs[2][...] = factor(A)
    if check_errors:
        first_failure(outs[2], "torch.linalg.lu_factor_ex")


def _unpack(outs: Any, factors: Any, pivots: Any) -> None:
    rows, columns = factors.shape[-2:]
    inner = min(rows, columns)
    permutations, lower, upper = outs
    if lower.ndim >= 2:
        lower[...] = np.tril(factors[..., :, :inner], -1) + np.eye(rows, inner, dtype=factors.dtype)
        upper[...] = np.triu(factors[..., :inner, :])
    if permutations.ndim >= 2:
        permutations.fill(0)
        for number, index in enumerate(np.ndindex(*permutations.shape[:-2])):
            given = pivots[number, :inner] if number < len(pivots) else ()
            permutations[index][permutation(given, rows), np.arange(rows)] = 1


@kernel("linalg_lu")
def lu(outs: Any, A: Any, pivot: bool) -> None:
    """Permutation, lower, upper."""
    factors, pivots, _ = factor(A)
    _unpack(outs, factors, _rows_of(pivots, pivots.shape[-1]))


@kernel("lu_unpack")
def unpack(outs: Any, factors: Any, pivots: Any, unpack_data: bool, unpack_pivots: bool) -> None:
    """Permutation, lower, upper of given factors.

    The first matrices have the exchanges that are given, one after another; those that have none are not permuted. torch
    reads behind the exchanges where they are too few for a matrix, and here they are refused.
    """
    if not unpack_pivots:
        _unpack(outs, factors, pivots)
        return
    inner, matrices = min(factors.shape[-2:]), math.prod(factors.shape[:-2])
    listed = _rows_of(pivots, pivots.shape[-1] if pivots.ndim else 1)
    read = listed[:, :inner]
    if read.shape[1] < inner or len(read) > matrices or (read < 1).any() or (read > factors.shape[-2]).any():
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result of "
            "lu_factor?"
        )
    _unpack(outs, factors, listed)


def _rows_of(pivots: Any, length: int) -> Any:
    return pivots.reshape(pivots.size // length if length else 0, length)


@kernel("linalg_lu_solve")
def lu_solve(out: Any, factors: Any, pivots: Any, right: Any, left: bool, adjoint: bool) -> None:
    """Solutions from factors; a right-hand solution is the adjoint of a left-hand one."""
    if out.size:
        check_pivots(pivots, factors.shape[-2], "lu", "be greater or equal to 1", "be smaller or equal to LU.size(-2)")
    for index, one, exchanges, given in each(out.shape[:-2], (factors, 2), (pivots, 1), (right, 2)):
        if left:
            out[index] = solve_factored(one, exchanges, given, 2 if adjoint else 0)
        else:
            out[index] = np.conj(solve_factored(one, exchanges, np.conj(given.T), 0 if adjoint else 2).T)


@kernel("_linalg_solve_ex")
def solve_ex(outs: Any, A: Any, B: Any, left: bool, check_errors: bool) -> None:
    """Solutions, and the factors they come from."""
    result, factors, pivots, infos = outs
    factors[...], pivots[...], infos[...] = factor(A)
    vector = is_vector_rhs(A, B)
    right = B[..., None] if vector else B
    target = result[..., None] if vector else result
    for index, one, exchanges, given in each(target.shape[:-2], (factors, 2), (pivots, 1), (right, 2)):
        if left:
            target[index] = solve_factored(one, exchanges, given)
        else:
            target[index] = solve_factored(one, exchanges, given.T, 1).T


@kernel("linalg_inv_ex")
def inv_ex(outs: Any, A: Any, check_errors: bool) -> None:
    """Inverses; zeros where there is none."""
    result, infos = outs
    factors, pivots, infos[...] = factor(A)
    getri = routine("getri", A.dtype)
    for index, one, exchanges in each(A.shape[:-2], (factors, 2), (pivots, 1)):
        if one.size:
            result[index] = getri(one, exchanges - 1)[0] if infos[index] == 0 else 0
    if check_errors:
        for number, status in enumerate(infos.reshape(-1).tolist()):
            if status:
                raise status_error("linalg.inv_ex", status, "" if A.ndim == 2 else f": (Batch element {number})")


@kernel("_linalg_det")
def det(outs: Any, A: Any) -> None:
    """Determinants: the product of the diagonal, with the sign of the exchanges."""
    result, factors, pivots = outs
    factors[...], pivots[...], _ = factor(A)
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    result[...] = np.prod(diagonal, axis=-1) * parity(pivots)


@kernel("_linalg_slogdet")
def slogdet(outs: Any, A: Any) -> None:
    """Sign and logarithm of the size of determinants."""
    sign, size, factors, pivots = outs
    factors[...], pivots[...], _ = factor(A)
    diagonal = np.diagonal(factors, axis1=-2, axis2=-1)
    length = np.abs(diagonal)
    direction = np.sign(diagonal) if diagonal.dtype.kind != "c" else diagonal / np.where(length == 0, 1, length)
    sign[...] = np.prod(direction, axis=-1) * parity(pivots)
    with np.errstate(divide="ignore"):
        size[...] = np.sum(np.log(length), axis=-1)
