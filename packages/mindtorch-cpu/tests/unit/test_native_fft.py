"""Native Fourier transforms against numpy's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import fft

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

SHAPES = [(1, 2), (2, 6), (5, 16), (16, 30), (19, 64), (3, 4, 40), (33, 100), (2, 1024), (3, 400), (1, 8), (2, 2000)]
PRECISIONS = ["float32", "float64"]


def signal(shape: tuple[int, ...], real: str, is_complex: bool) -> Any:
    rng = np.random.default_rng(2)
    values = rng.standard_normal(shape)
    return (
        (values + 1j * rng.standard_normal(shape)).astype(f"c{2 * np.dtype(real).itemsize}")
        if is_complex
        else (values.astype(real))
    )


def same(mine: Any, want: Any, real: str) -> None:
    limit = 1e-6 if real == "float32" else 1e-14
    np.testing.assert_allclose(mine, want, rtol=0, atol=np.abs(want).max() * limit)


def run(kernel: Any, shape: tuple[int, ...], dtype: Any, *values: Any) -> Any:
    out = np.full(shape, np.nan, dtype)
    kernel(out, *values)
    return out


@pytest.mark.parametrize("real", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("normalization", [0, 1, 2])
def test_complex(real: str, shape: tuple[int, ...], normalization: int, threads: int) -> None:
    x = signal(shape, real, True)
    for dims in ((len(shape) - 1,), (0,), tuple(range(len(shape)))):
        if any(shape[dim] in (19, 33) for dim in dims):
            continue  # of those numpy's are the quickest
        for forward in (True, False):
            values = (x, dims, normalization, forward)
            mine = run(native_kernel("_fft_c2c"), shape, x.dtype, *values)
            same(mine, run(fft.c2c, shape, x.dtype, *values), real)


@pytest.mark.parametrize("real", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("onesided", [True, False])
def test_of_reals(real: str, shape: tuple[int, ...], onesided: bool, threads: int) -> None:
    x = signal(shape, real, False)
    last = len(shape) - 1
    size = (*shape[:-1], shape[-1] // 2 + 1) if onesided else shape
    dtype = signal(shape, real, True).dtype
    mine = run(native_kernel("_fft_r2c"), size, dtype, x, (last,), 1, onesided)
    same(mine, run(fft.r2c, size, dtype, x, (last,), 1, onesided), real)


@pytest.mark.parametrize("real", PRECISIONS)
@pytest.mark.parametrize("shape", SHAPES)
def test_to_reals(real: str, shape: tuple[int, ...], threads: int) -> None:
    x = signal((*shape[:-1], shape[-1] // 2 + 1), real, True)  # what is imaginary of the first and last doesn't count
    for dims in {(len(shape) - 1,), tuple(range(len(shape)))}:
        if any(shape[dim] in (19, 33) for dim in dims[:-1]):
            continue  # of those numpy's are the quickest
        before, values = x.copy(), (x, dims, 2, shape[-1])
        same(run(native_kernel("_fft_c2r"), shape, real, *values), run(fft.c2r, shape, real, *values), real)
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("real", PRECISIONS)
@pytest.mark.parametrize("length", [8192, 12000, 65536])
def test_long_dense_lines(real: str, length: int) -> None:
    x = signal((2, length), real, True)
    for forward in (True, False):
        values = (x, (1,), 0, forward)
        same(run(native_kernel("_fft_c2c"), x.shape, x.dtype, *values), run(fft.c2c, x.shape, x.dtype, *values), real)


def test_other_lengths_are_numpys() -> None:
    with pytest.raises(AssertionError, match="numpy"):
        native_kernel("_fft_c2c")(np.zeros(7, "c8"), np.ones(7, "c8"), (0,), 0, True)
