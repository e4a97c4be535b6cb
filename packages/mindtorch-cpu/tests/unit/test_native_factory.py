"""Equidistant numbers, places of triangles and counts, as numpy's kernels make them."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")


def numpys(name):
    """The kernel behind the native one."""
    return kernels["cpu"][name].fn.numpy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ends", [(0, 1), (-3.7, 12.1), (5.0, -1e-3), (2, 2), (1e-30, 1e30)])
@pytest.mark.parametrize("steps", [2, 3, 17, 50_001])
def test_linspace(dtype, ends, steps, threads):
    made = [np.full(steps, np.nan, dtype) for _ in "nn"]
    native_kernel("linspace")(made[0], *ends, steps)
    numpys("linspace")(made[1], *ends, steps)
    np.testing.assert_array_equal(*made)


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (7, 7), (3, 9), (9, 3)])
def test_triangles(name, shape):
    for offset in range(-11, 12):
        places = (
            np.tri(*shape, offset, dtype=bool) if name.startswith("tril") else ~np.tri(*shape, offset - 1, dtype=bool)
        )
        want = np.stack(np.nonzero(places))
        out = np.full(want.shape, -1)
        native_kernel(name)(out, *shape, offset)
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("size", [0, 1, 2, 301, 5000])
@pytest.mark.parametrize("most", [1, 2, 40, 3000, 1 << 19])
@pytest.mark.parametrize("least", [0, 3, 70_000])
def test_bincount(size, most, least):
    numbers = np.random.default_rng(size).integers(0, most, size)
    made = native_kernel("bincount")(numbers, None, least)
    np.testing.assert_array_equal(made, np.bincount(numbers, None, least))
    assert made.dtype == np.int64


def test_what_is_left_to_numpy():
    with pytest.raises(AssertionError, match="left this to numpy"):
        native_kernel("bincount")(np.array([1, -1]), None, 0)
    with pytest.raises(AssertionError, match="left this to numpy"):
        native_kernel("linspace")(np.empty(3, "f4"), 0, float("inf"), 3)
