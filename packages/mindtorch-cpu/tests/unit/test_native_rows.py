"""Rows and dtypes that native kernels take: what runs must not be numpy's kernel, which would give the same values."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")

FLOATS = [ml_dtypes.bfloat16, np.float32, np.float64]
HALVES = [ml_dtypes.bfloat16, np.float16, np.float32]
ROWS = ((1,), False)
REDUCTIONS = {
    "sum": (), "sum.dim_IntList": ROWS, "mean": (), "mean.dim": ROWS, "prod": (), "prod.dim_int": ROWS, "amax": ROWS,
    "max": (), "amin": ROWS, "min": (), "nansum": ROWS, "linalg_vector_norm": (2, *ROWS),
}  # fmt: skip
"""Of every native reduction that reads bfloat16 itself, what it is given besides an operand."""
ELEMENTWISE = {"add.Tensor": (1,), "mul.Tensor": (), "div.Tensor": (), "maximum": (), "sigmoid_backward": ()}
CASES = [
    *((row, dtype, (13, 37), (13,) if rest else (), 1, rest) for row, rest in REDUCTIONS.items() for dtype in FLOATS),
    *((row, dtype, (13, 37), (13, 37), 2, rest) for row, rest in ELEMENTWISE.items() for dtype in HALVES),
    *(("exp", dtype, (13, 37), (13, 37), 1, ()) for dtype in HALVES),
    *(("_softmax", dtype, (13, 37), (13, 37), 1, (1, False)) for dtype in FLOATS[:2]),
    *(("mm", dtype, (13, 13), (13, 13), 2, ()) for dtype in FLOATS),
]


@pytest.mark.parametrize(
    ("row", "dtype", "shape", "result", "count", "rest"), CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_the_native_kernel_runs(row, dtype, shape, result, count, rest):
    values = [np.random.default_rng(seed).standard_normal(shape).astype(dtype) for seed in range(count)]
    out = np.full(result, np.nan, dtype)
    native_kernel(row)(out, *values, *rest)  # fails where numpy's would run
    assert np.isfinite(out.astype(np.float64)).all()


def test_every_row_of_those_reductions_is_looked_at():
    words = [rows.split() for rows, takes_halves in native.module.kernels() if takes_halves]
    assert {row for family in words for row in family if not set(family).isdisjoint(REDUCTIONS)} == set(REDUCTIONS)
