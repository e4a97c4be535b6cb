"""Native padding by reflection and by copies of the border, and its gradients, against the numpy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import pad

from .test_native_pools import laid_out, only_native

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

CASES = [
    ((2, 3, 7), [2, 3]),
    ((2, 3, 5, 8), [1, 2, 3, 0]),
    ((2, 3, 5, 8), [-1, 2, 3, -2]),
    ((2, 3, 4, 5, 300), [200, 1, 2, 2, 1, 3]),
]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "f2", "?", "c16"])
@pytest.mark.parametrize("mode", ["reflection", "replication"])
@pytest.mark.parametrize(("shape", "padding"), CASES)
def test_frames_are_copies(shape: Any, padding: Any, mode: str, dtype: str, last: bool, threads: int) -> None:
    last = last and len(shape) > 3
    dims = len(padding) // 2
    x = laid_out(np.random.default_rng(1).integers(0, 100, shape).astype(dtype), last)
    size = [extent + sum(padding[2 * (dims - 1 - at) :][:2]) for at, extent in enumerate(shape[2:])]
    want, got = (laid_out(np.zeros((*shape[:2], *size), dtype), last) for _ in range(2))
    pad._forward(mode)(want, x, padding)
    only_native(f"{mode}_pad{dims}d")(got, x, padding)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("mode", ["reflection", "replication"])
@pytest.mark.parametrize(("shape", "padding"), CASES)
def test_gradients_of_copies_are_added(
    shape: Any, padding: Any, mode: str, dtype: str, last: bool, threads: int
) -> None:
    last = last and len(shape) > 3
    dims = len(padding) // 2
    x = laid_out(np.zeros(shape, dtype), last)
    size = [extent + sum(padding[2 * (dims - 1 - at) :][:2]) for at, extent in enumerate(shape[2:])]
    grad = laid_out(np.random.default_rng(2).standard_normal((*shape[:2], *size)).astype(dtype), last)
    want, got = np.empty_like(x), np.empty_like(x)
    pad._backward(mode)(want, grad, x, padding)
    only_native(f"{mode}_pad{dims}d_backward")(got, grad, x, padding)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
