"""Factorizations, solutions, inverses and determinants.

Orthogonal, triangular and singular-value factors have operators. Elimination with exchange of rows has none: it is
composed, column by column, of the operators that find, move and scale rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

INT32 = np.dtype(np.int32)
QR_MODES = {"reduced": 0, "complete": 1, "r": 2}
_SOLVE, _QR, _SVD = Operator("TriangularSolve"), Operator("LinalgQr"), Operator("Svd")


def _stack(x: DeviceArray, batch: Any = None) -> DeviceArray:
    """Return matrices as one stack, broadcast to a batch's shape."""
    lead = x.shape[:-2] if batch is None else tuple(batch)
    whole = x if lead == x.shape[:-2] else on.expanded(x, (*lead, *x.shape[-2:]))
    return on.reshaped(whole, (math.prod(lead), *x.shape[-2:]))


def _entry(x: DeviceArray, rows: tuple[int, int], columns: tuple[int, int]) -> DeviceArray:
    """Return the view of some rows and columns of a stack."""
    return on.cut(on.cut(x, 1, *rows), 2, *columns)


def _diagonal(x: DeviceArray) -> DeviceArray:
    count = min(x.shape[1:])
    return DeviceArray(x.storage, (x.shape[0], count), x.dtype, (x.steps[0], x.steps[1] + x.steps[2]), x.offset, x.base)


def _exchange(work: DeviceArray, row: int, other: DeviceArray) -> None:
    """Exchange row `row` of each matrix with the one whose number is in `other`, (batch, 1, 1)."""
    shape = (work.shape[0], 1, work.shape[2])
    places = on.expanded(other, shape).packed()
    theirs = on.apply("Gather", shape, work.dtype, work, 1, places)
    own = _entry(work, (row, row + 1), (0, work.shape[2]))
    kept = on.each("Muls", own, 1)
    launch("aclnnScatter", [work, 1, places, kept, 0, work])
    on.copied(own, theirs)


def _eliminated(matrices: DeviceArray) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return LU factors in one stack, the exchanges (from 1) and where the first pivot is zero (from 1, else 0)."""
    work = on.filled(matrices, 0)
    on.copied(work, matrices)
    count, rows, columns = work.shape
    inner = min(rows, columns)
    pivots = on.filled(work, 0, (count, inner), INT32)
    for at in range(inner):
        column = on.each("Abs", _entry(work, (at, rows), (at, at + 1)))
        best = on.apply("ArgMax", (count, 1, 1), on.INT64, column, 1, True)
        _exchange(work, at, on.add(best, at))
        on.copied(on.cut(pivots, 1, at, at + 1), on.reshaped(on.add(best, at + 1), (count, 1)))
        if at + 1 == rows:
            continue
        pivot = _entry(work, (at, at + 1), (at, at + 1))
        nothing = on.compare("Eq", pivot, 0)
        below = _entry(work, (at + 1, rows), (at, at + 1))
        shares = on.div(below, on.where(nothing, on.filled(pivot, 1), pivot))
        on.copied(below, shares)
        if at + 1 < columns:
            rest = _entry(work, (at + 1, rows), (at + 1, columns))
            on.copied(rest, on.sub(rest, on.mul(shares, _entry(work, (at, at + 1), (at + 1, columns)))))
    return work, pivots, _first_zero(work, count)


def _first_zero(work: DeviceArray, count: int) -> DeviceArray:
    if not min(work.shape[1:]) or not count:
        return on.filled(work, 0, (count,), INT32)
    zero = on.compare("Eq", _diagonal(work), 0).astype(INT32)
    first = on.add(on.apply("ArgMax", (count,), on.INT64, zero, 1, False), 1)
    return on.mul(first, on.apply("Amax", (count,), INT32, zero, [1], False).astype(on.INT64)).astype(INT32)


def _triangular(right: DeviceArray, matrix: DeviceArray, upper: bool, turned: bool, unit: bool) -> DeviceArray:
    made, copy = on.filled(right, 0), on.filled(matrix, 0)
    if right.size:
        _SOLVE((made, copy), (right, matrix, upper, turned, unit))
    return made


def _exchanged(right: DeviceArray, pivots: DeviceArray, backwards: bool) -> DeviceArray:
    work = on.each("Muls", right, 1)
    order = range(pivots.shape[1])
    for at in reversed(order) if backwards else order:
        number = on.cut(pivots, 1, at, at + 1).astype(on.INT64)
        _exchange(work, at, on.reshaped(on.sub(number, 1), (pivots.shape[0], 1, 1)))
    return work


def _solved(factors: DeviceArray, pivots: DeviceArray, right: DeviceArray, turned: bool = False) -> DeviceArray:
    """Return the solutions of A X = B, or of its transpose, from the factors of A."""
    if turned:
        half = _triangular(right, factors, True, True, False)
        return _exchanged(_triangular(half, factors, False, True, True), pivots, True)
    half = _triangular(_exchanged(right, pivots, False), factors, False, False, True)
    return _triangular(half, factors, True, False, False)


def _put(out: DeviceArray | None, x: DeviceArray) -> None:
    if out is not None and out.size:
        on.copied(out, on.reshaped(x, out.shape))


def _factor(outs: Sequence[DeviceArray], matrices: DeviceArray, pivot: bool, check_errors: bool) -> None:
    if not pivot:
        raise NotImplementedError("npu: LU factors without exchange of rows are not supported")
    for out, made in zip(outs, _eliminated(_stack(matrices)), strict=True):
        _put(out, made)


def _unpacked(
    outs: Sequence[DeviceArray], factors: DeviceArray, pivots: DeviceArray, data: bool, exchanges: bool
) -> None:
    permutations, lower, upper = outs
    stack = _stack(factors)
    count, rows, columns = stack.shape
    inner = min(rows, columns)
    if data and lower.ndim >= 2:
        made = on.each("Tril", _entry(stack, (0, rows), (0, inner)).packed(), -1)
        on.copied(_diagonal(made), on.filled(made, 1, (count, inner)))
        _put(lower, made)
        _put(upper, on.each("Triu", _entry(stack, (0, inner), (0, columns)).packed(), 0))
    if exchanges and permutations.ndim >= 2 and permutations.size:
        whole = on.filled(stack, 0, (count, rows, rows))
        on.copied(_diagonal(whole), on.filled(stack, 1, (count, rows)))
        turned = _exchanged(whole, on.reshaped(pivots, (count, inner)), False)
        _put(permutations, on.transposed(turned))


def _lu(outs: Sequence[DeviceArray], matrices: DeviceArray, pivot: bool) -> None:
    factors, pivots, _ = _eliminated(_stack(matrices))
    if not pivot:
        raise NotImplementedError("npu: LU factors without exchange of rows are not supported")
    _unpacked(outs, factors, pivots, True, True)


def _lu_solve(out: DeviceArray, factors: Any, pivots: Any, right: DeviceArray, left: bool, adjoint: bool) -> None:
    batch = out.shape[:-2]
    stack, numbers = _stack(factors, batch), _stack(on.reshaped(pivots, (*pivots.shape, 1)), batch)
    given = _stack(right, batch)
    numbers = on.reshaped(numbers, numbers.shape[:2])
    if left:
        _put(out, _solved(stack, numbers, given, adjoint))
    else:
        _put(out, on.transposed(_solved(stack, numbers, on.transposed(given).packed(), not adjoint)))


def _solve(
    outs: Sequence[DeviceArray], matrices: DeviceArray, right: DeviceArray, left: bool, check_errors: bool
) -> None:
    result, factors, pivots, infos = outs
    made = _eliminated(_stack(matrices))
    for out, one in zip((factors, pivots, infos), made, strict=True):
        _put(out, one)
    vector = result.ndim == right.ndim and (
        right.ndim == 1 or (matrices.ndim - 1 == right.ndim and matrices.shape[:-1] == right.shape)
    )
    given = on.reshaped(right, (*right.shape, 1)) if vector else right
    lead = given.shape[:-2] if not matrices.ndim - 2 else np.broadcast_shapes(matrices.shape[:-2], given.shape[:-2])
    stack = _stack(on.reshaped(made[0], matrices.shape), lead)
    numbers = _stack(on.reshaped(made[1], (*matrices.shape[:-2], matrices.shape[-1], 1)), lead)
    numbers = on.reshaped(numbers, numbers.shape[:2])
    columns = _stack(given, lead)
    if left:
        _put(result, _solved(stack, numbers, columns))
    else:
        _put(result, on.transposed(_solved(stack, numbers, on.transposed(columns).packed(), True)))


def _inverse(outs: Sequence[DeviceArray], matrices: DeviceArray, check_errors: bool) -> None:
    result, infos = outs
    if infos.size:
        launch("aclnnInplaceZero", [infos])
    on.into(result, "Inverse", matrices)


def _parity(pivots: DeviceArray, like: DeviceArray) -> DeviceArray:
    """Return 1 for an even number of exchanges and -1 for an odd one."""
    count, inner = pivots.shape
    if not inner:
        return on.filled(like, 1, (count,))
    moved = on.compare("Ne", pivots, on.constant(np.arange(1, inner + 1, dtype=np.int32), like)).astype(on.INT64)
    number = on.apply("ReduceSum", (count,), on.INT64, moved, [1], False)
    odd = on.both("RemainderTensorScalar", number, 2).astype(like.dtype)
    return on.add(on.mul(odd, -2), 1)


def _product(x: DeviceArray) -> DeviceArray:
    if not x.shape[1]:
        return on.filled(x, 1, (x.shape[0],))
    made = on.filled(x, 0, (x.shape[0],))
    if made.size:
        Operator("ProdDim")((made,), (x.packed(), 1, False))
    return made


def _determinant(outs: Sequence[DeviceArray], matrices: DeviceArray) -> None:
    result, factors, pivots = outs
    made, numbers, _ = _eliminated(_stack(matrices))
    _put(factors, made)
    _put(pivots, numbers)
    _put(result, on.mul(_product(_diagonal(made)), _parity(numbers, made)))


def _log_determinant(outs: Sequence[DeviceArray], matrices: DeviceArray) -> None:
    sign, size, factors, pivots = outs
    made, numbers, _ = _eliminated(_stack(matrices))
    _put(factors, made)
    _put(pivots, numbers)
    diagonal = _diagonal(made).packed()
    _put(sign, on.mul(_product(on.each("Sign", diagonal)), _parity(numbers, made)))
    lengths = on.each("Log", on.each("Abs", diagonal))
    count = diagonal.shape[0]
    total = (
        on.apply("ReduceSum", (count,), made.dtype, lengths, [1], False)
        if diagonal.size
        else on.filled(made, 0, (count,))
    )
    _put(size, total)


def _qr(outs: Sequence[DeviceArray], matrices: DeviceArray, mode: str) -> None:
    orthogonal, upper = outs
    if matrices.size:
        _QR((orthogonal, upper), (matrices, QR_MODES[mode]))
        return
    for out in outs:
        if out.size:
            launch("aclnnInplaceZero", [out])
    if orthogonal.size:
        stack = on.reshaped(orthogonal, (math.prod(orthogonal.shape[:-2]), *orthogonal.shape[-2:]))
        on.copied(_diagonal(stack), on.filled(stack, 1, (stack.shape[0], min(stack.shape[1:]))))


def _svd(
    outs: Sequence[DeviceArray], matrices: DeviceArray, full_matrices: bool, compute_uv: bool, driver: object
) -> None:
    left, values, right = outs
    if not matrices.size:
        for out in (left, right):
            if out.size:
                stack = on.reshaped(out, (math.prod(out.shape[:-2]), *out.shape[-2:]))
                launch("aclnnInplaceZero", [stack])
                on.copied(_diagonal(stack), on.filled(stack, 1, (stack.shape[0], min(stack.shape[1:]))))
        return
    turned = on.filled(matrices, 0, (*right.shape[:-2], right.shape[-1], right.shape[-2])) if compute_uv else None
    _SVD((values, left if compute_uv else None, turned), (matrices, full_matrices, compute_uv))
    if turned is not None:
        on.copied(right, on.transposed(turned))


def _cholesky(outs: Sequence[DeviceArray], matrices: DeviceArray, upper: bool, check_errors: bool = False) -> None:
    result, infos = outs if isinstance(outs, tuple) else (outs, None)
    if infos is not None and infos.size:
        launch("aclnnInplaceZero", [infos])
    on.into(result, "LinalgCholesky", matrices, upper)


def _cholesky_solve(out: DeviceArray, right: Any, factor: Any, upper: bool) -> None:
    batch = out.shape[:-2]
    given, matrix = _stack(right, batch), _stack(factor, batch)
    half = _triangular(given, matrix, upper, upper, False)
    _put(out, _triangular(half, matrix, upper, not upper, False))


def _cholesky_inverse(out: DeviceArray, factor: Any, upper: bool) -> None:
    stack = _stack(factor)
    whole = on.filled(stack, 0)
    if whole.size:
        on.copied(_diagonal(whole), on.filled(whole, 1, whole.shape[:2]))
    half = _triangular(whole, stack, upper, upper, False)
    _put(out, _triangular(half, stack, upper, not upper, False))


def _solve_triangular(
    out: DeviceArray, matrix: DeviceArray, right: DeviceArray, upper: bool, left: bool, unit: bool
) -> None:
    batch = out.shape[:-2]
    stack, given = _stack(matrix, batch), _stack(right, batch)
    if left:
        _put(out, _triangular(given, stack, upper, False, unit))
    else:
        made = _triangular(on.transposed(given).packed(), stack, upper, True, unit)
        _put(out, on.transposed(made))


def _triangular_solve(
    outs: Sequence[DeviceArray], right: DeviceArray, matrix: DeviceArray, upper: bool, transpose: bool, unit: bool
) -> None:
    out, copy = outs
    batch = out.shape[:-2]
    _put(out, _triangular(_stack(right, batch), _stack(matrix, batch), upper, transpose, unit))
    on.copied(copy, matrix)


written("linalg_lu_factor_ex", "ArgMax", _factor)
written("linalg_lu", "ArgMax", _lu)
written("lu_unpack", "Tril", _unpacked)
written("linalg_lu_solve", "TriangularSolve", _lu_solve)
written("_linalg_solve_ex", "TriangularSolve", _solve)
written("linalg_inv_ex", "Inverse", _inverse)
written("_linalg_det", "ProdDim", _determinant)
written("_linalg_slogdet", "Log", _log_determinant)
written("linalg_qr", "LinalgQr", _qr)
written("_linalg_svd", "Svd", _svd)
written(("linalg_cholesky_ex", "cholesky"), "LinalgCholesky", _cholesky)
written("cholesky_solve", "TriangularSolve", _cholesky_solve)
written("cholesky_inverse", "TriangularSolve", _cholesky_inverse)
written("linalg_solve_triangular", "TriangularSolve", _solve_triangular)
written("triangular_solve", "TriangularSolve", _triangular_solve)
aclnn("vdot", "Dot")
