"""Operators that go over all elements anyway take arrays of any strides: native kernels work on dense copies of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native

from .test_native_pools import only_native

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

CALLS: dict[str, tuple[Any, ...]] = {
    "cumsum": (1,),
    "cumprod": (0,),
    "_softmax": (1, False),
    "_log_softmax": (0, False),
    "tril": (1,),
    "triu": (-2,),
}


@pytest.mark.parametrize("row", CALLS)
def test_transposed_operands_and_results(row: str) -> None:
    x = np.random.default_rng(7).standard_normal((30, 20)).astype("f4")
    want, got = np.empty((20, 30), "f4"), np.full((30, 20), 7, "f4").T
    run = only_native(row)
    run(want, np.ascontiguousarray(x.T), *CALLS[row])
    run(got, x.T, *CALLS[row])
    # Lines along another dimension in memory are summed in another order.
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("row", "values"),
    [("cummax", (1,)), ("cummin", (0,)), ("sort.stable", (1, False))],
)
def test_values_and_places_of_transposed_operands(row: str, values: tuple[Any, ...]) -> None:
    x = np.random.default_rng(8).integers(0, 9, (30, 20)).astype("f4")
    want, got = ((np.empty((20, 30), "f4"), np.empty((20, 30), "i8")) for _ in "ab")
    run = only_native(row)
    run(want, np.ascontiguousarray(x.T), *values)
    run(got, x.T, *values)
    for one, other in zip(got, want, strict=True):
        np.testing.assert_array_equal(one, other)
