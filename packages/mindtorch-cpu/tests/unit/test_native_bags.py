"""Native sums of whole bags of rows, of all widths, against sums of double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mindtorch_cpu import native

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("width", [1, 7, 8, 16, 17, 24, 32, 47, 64, 100, 131])
def test_sums(dtype: str, weighted: bool, width: int, threads: int) -> None:
    rng = np.random.default_rng(4)
    table, rows = rng.standard_normal((40, width)).astype(dtype), rng.integers(0, 40, 60)
    begins = np.array([0, 0, 3, 17, 60, 60])  # bags of none, of few and of many rows
    factors = rng.standard_normal(60).astype(dtype)
    out, sizes = np.full((5, width), np.nan, dtype), np.zeros(5, "i8")
    outs = out, np.zeros(0, "i8"), sizes, np.zeros(5, "i8")
    values = (table, rows, begins, False, 0, False, factors if weighted else None, True, -1)
    native_kernel("_embedding_bag")(outs, *values)
    terms = table[rows].astype("f8") * (factors[:, None] if weighted else 1)
    want = [terms[first:last].sum(0) for first, last in itertools.pairwise(begins)]
    np.testing.assert_allclose(out, want, rtol=0, atol=2e-5 if dtype == "f4" else 1e-13)
