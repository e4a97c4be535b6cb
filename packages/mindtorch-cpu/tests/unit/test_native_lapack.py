"""Batches of LAPACK's factors in one native call, against one call of scipy's for each matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import eigen, qr

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(1, 1), (3, 3), (4, 7), (9, 2), (33, 20), (20, 80), (90, 70)]


def numbers(dtype: str, *shape: int) -> Any:
    rng = np.random.default_rng(3)
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else values).astype(dtype)


def by_columns(dtype: Any, *shape: int) -> Any:
    return np.full((*shape[:-2], shape[-1], shape[-2]), np.nan, dtype).swapaxes(-1, -2)


def real(dtype: str) -> Any:
    return np.zeros(1, dtype).real.dtype


def close(one: Any, other: Any, dtype: str) -> None:
    scale = max(float(np.abs(other).max(initial=0)), 1e-30)
    np.testing.assert_allclose(one, other, rtol=0, atol=scale * (3e-5 if real(dtype) == np.float32 else 1e-12))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1, 2, 5, 30, 70])
@pytest.mark.parametrize("uplo", ["L", "u"])
@pytest.mark.parametrize("layout", ["rows", "columns", "one matrix"])
def test_eigenvalues_of_hermitian_matrices(dtype: str, size: int, uplo: str, layout: str, threads: int) -> None:
    a = numbers(dtype, 2, 3, size, size)  # the other triangle is not looked at
    a = a.swapaxes(-1, -2) if layout == "columns" else a[0, 0] if layout == "one matrix" else a
    for vectors in (True, False):
        shape = a.shape if vectors else (*a.shape[:-2], 0, 0)
        found = [(np.zeros(a.shape[:-1], real(dtype)), by_columns(dtype, *shape)) for _ in "mw"]
        native_kernel("_linalg_eigh")(found[0], a, uplo, vectors)
        eigen.eigh(found[1], a, uplo, vectors)
        close(found[0][0], found[1][0], dtype)
        if vectors:
            lower = np.tril(a) if uplo == "L" else np.triu(a)
            whole = lower + lower.conj().swapaxes(-1, -2)
            whole[..., range(size), range(size)] = np.diagonal(lower, axis1=-2, axis2=-1).real
            close(whole @ found[0][1], found[0][1] * found[0][0][..., None, :], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("full", [True, False])
def test_singular_values(dtype: str, shape: Any, full: bool, threads: int) -> None:
    a = numbers(dtype, 3, *shape)
    rows, columns = shape
    inner = min(shape)
    left, right = (rows, columns) if full else (inner, inner)
    outs = by_columns(dtype, 3, rows, left), np.zeros((3, inner), real(dtype)), by_columns(dtype, 3, right, columns)
    native_kernel("_linalg_svd")(outs, a, full, True, None)
    close(outs[0][..., :inner] * outs[1][:, None] @ outs[2][:, :inner], a, dtype)
    for vectors, extent in ((outs[0], left), (outs[2].conj().swapaxes(-1, -2), right)):
        close(vectors.conj().swapaxes(-1, -2) @ vectors, np.broadcast_to(np.eye(extent), (3, extent, extent)), dtype)
    none = np.zeros((3, rows, 0), dtype), np.zeros((3, inner), real(dtype)), np.zeros((3, 0, columns), dtype)
    native_kernel("_linalg_svd")(none, a, full, False, None)
    close(none[1], outs[1], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_orthogonal_factors(dtype: str, shape: Any, mode: str, threads: int) -> None:
    a = numbers(dtype, 2, 2, *shape)
    inner = shape[0] if mode == "complete" else min(shape)
    found = []
    for kernel in (native_kernel("linalg_qr"), qr.qr):
        first = np.zeros(0, dtype) if mode == "r" else by_columns(dtype, 2, 2, shape[0], inner)
        outs = first, by_columns(dtype, 2, 2, inner, shape[1])
        kernel(outs, a, mode)
        found.append(outs)
    for one, other in zip(*found, strict=True):
        close(one, other, dtype)
    factors = [(by_columns(dtype, *a.shape), np.zeros((2, 2, min(shape)), dtype)) for _ in "mw"]
    native_kernel("geqrf")(factors[0], a)
    qr.geqrf(factors[1], a)
    for one, other in zip(*factors, strict=True):
        close(one, other, dtype)


def test_what_is_not_finite_is_said_by_numpys_kernels() -> None:
    a = np.ones((2, 3, 3))
    a[1, 1, 1] = np.nan
    with pytest.raises(AssertionError, match="left this to numpy's"):
        native_kernel("_linalg_eigh")((np.zeros((2, 3)), by_columns("f8", 2, 3, 3)), a, "L", True)
    with pytest.raises(AssertionError, match="left this to numpy's"):
        native_kernel("_linalg_svd")((np.zeros(0), np.zeros((2, 3)), np.zeros(0)), a, True, False, None)
