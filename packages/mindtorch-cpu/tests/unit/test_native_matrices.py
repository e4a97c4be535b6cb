"""Native factors and solutions of small matrices against LAPACK's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import cholesky, lu, triangular

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

DTYPES = ["float32", "float64", "complex64", "complex128"]
SIZES = [1, 2, 3, 4, 7, 16, 33, 64]
BATCH = (3, 2)


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(5)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def by_columns(dtype: Any, *shape: int) -> Any:
    return np.full((*shape[:-2], shape[-1], shape[-2]), np.nan, dtype).swapaxes(-1, -2)


def same(mine: Any, want: Any, dtype: str) -> None:
    single = dtype in ("float32", "complex64")
    for one, other in zip(mine, want, strict=True):
        scale = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=0, atol=scale * (3e-4 if single else 1e-11))


def positive(dtype: str, size: int) -> Any:
    a = numbers(dtype, *BATCH, size, size)
    return (a @ a.conj().swapaxes(-1, -2) + size * np.eye(size)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_factors(dtype: str, size: int, threads: int) -> None:
    a = numbers(dtype, *BATCH, size, size).swapaxes(-1, -2)

    def run(kernel: Any) -> Any:
        outs = by_columns(dtype, *a.shape), np.zeros((*BATCH, size), "i4"), np.full(BATCH, -1, "i4")
        kernel(outs, a, True, False)
        return outs

    mine, want = run(native_kernel("linalg_lu_factor_ex")), run(lu.factor_ex)
    np.testing.assert_array_equal(mine[1], want[1])
    np.testing.assert_array_equal(mine[2], want[2])
    same(mine[:1], want[:1], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_determinants_and_inverses(dtype: str, size: int) -> None:
    a = (numbers(dtype, *BATCH, size, size) / np.sqrt(size)).astype(dtype)
    real = np.zeros(1, dtype).real.dtype

    def results(det: Any, slogdet: Any, inv: Any) -> list[Any]:
        factors, pivots = by_columns(dtype, *a.shape), np.zeros((*BATCH, size), "i4")
        number, sign, log, inverse = (
            np.zeros(BATCH, dtype),
            np.zeros(BATCH, dtype),
            np.zeros(BATCH, real),
            factors.copy(),
        )
        det((number, factors, pivots), a)
        slogdet((sign, log, factors, pivots), a)
        inv((inverse, np.zeros(BATCH, "i4")), a, False)
        return [number, sign, log, inverse]

    names = ("_linalg_det", "_linalg_slogdet", "linalg_inv_ex")
    same(results(*map(native_kernel, names)), results(lu.det, lu.slogdet, lu.inv_ex), dtype)


def test_a_singular_matrix_among_others() -> None:
    a = numbers("float64", 4, 3, 3)
    a[2] = 0
    inverse, infos = by_columns("float64", 4, 3, 3), np.zeros(4, "i4")
    native_kernel("linalg_inv_ex")((inverse, infos), a, False)
    assert infos.tolist() == [0, 0, 1, 0]
    assert not inverse[2].any()
    np.testing.assert_allclose(a[0] @ inverse[0], np.eye(3), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("columns", [1, 3, 17])
@pytest.mark.parametrize("size", [2, 4, 9, 40])
def test_solutions(dtype: str, left: bool, columns: int, size: int, threads: int) -> None:
    a = numbers(dtype, *BATCH, size, size)
    b = numbers(dtype, BATCH[1], *((size, columns) if left else (columns, size)))

    def run(kernel: Any) -> Any:
        result = by_columns(dtype, *BATCH, *b.shape[-2:])
        outs = result, by_columns(dtype, *a.shape), np.zeros((*BATCH, size), "i4"), np.zeros(BATCH, "i4")
        kernel(outs, a, b, left, False)
        return outs

    mine, want = run(native_kernel("_linalg_solve_ex")), run(lu.solve_ex)
    same(mine[:1], want[:1], dtype)
    for adjoint in (False, True):
        found = [by_columns(dtype, *BATCH, *b.shape[-2:]) for _ in "mw"]
        native_kernel("linalg_lu_solve")(found[0], want[1], want[2], b, left, adjoint)
        lu.lu_solve(found[1], want[1], want[2], b, left, adjoint)
        same(found[:1], found[1:], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_cholesky(dtype: str, upper: bool, size: int) -> None:
    a, b = positive(dtype, size), numbers(dtype, BATCH[1], size, 3)

    def run(factor: Any, solve: Any) -> Any:
        outs = by_columns(dtype, *a.shape), np.full(BATCH, -1, "i4")
        factor(outs, a, upper, False)
        solution = by_columns(dtype, *BATCH, size, 3)
        solve(solution, b, outs[0], upper)
        assert not outs[1].any()
        return outs[0], solution

    kernels = native_kernel("linalg_cholesky_ex"), native_kernel("cholesky_solve")
    same(run(*kernels), run(cholesky.cholesky_ex, cholesky.cholesky_solve), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_systems(dtype: str, upper: bool, left: bool, unit: bool) -> None:
    for size, columns in ((3, 3), (5, 1), (12, 2), (20, 30)):
        a = positive(dtype, size) / (10 * size)
        b = numbers(dtype, *BATCH, *((size, columns) if left else (columns, size)))
        found = [by_columns(dtype, *b.shape) for _ in "mw"]
        native_kernel("linalg_solve_triangular")(found[0], a, b, upper, left, unit)
        triangular.solve_triangular(found[1], a, b, upper, left, unit)
        same(found[:1], found[1:], dtype)
