"""Native medians and elements of a rank: what numpy's kernels find in sorted rows, places of equal elements included."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
SHAPES = [(1, 1), (5, 8), (3, 97), (2, 300), (7, 4, 9), (2, 5000), (20_000,)]


def numbers(shape, dtype):
    made = np.random.default_rng(1).standard_normal(shape) * 40
    if np.dtype(dtype).kind != "f":
        return np.abs(made).astype(dtype)
    made = np.round(made * 4).astype(dtype) / dtype(4)  # some are equal
    made[..., ::7] *= dtype(1e-30)
    if made.shape[0] > 1 and made.size > 9:
        made.reshape(-1)[[2, 5, 8]] = np.nan, -np.inf, np.inf
        made[-1] = np.nan if made.ndim > 1 else made[-1]
    return made


def same(row, outs, *values):
    kernel, made = kernels["cpu"][row].fn, []
    for function in (kernel, kernel.numpy):
        fresh = tuple(np.zeros_like(one) for one in outs)
        function(fresh if len(fresh) > 1 else fresh[0], *values)
        made.append(fresh)
    for ours, expected in zip(*made, strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.uint8])
def test_along_a_dimension(dtype):
    for shape in SHAPES:
        whole = numbers(shape, dtype)
        for x in (whole, np.asfortranarray(whole), whole[..., ::2]):
            for dim in range(x.ndim):
                kept = tuple(1 if axis == dim else extent for axis, extent in enumerate(x.shape))
                outs = np.empty(kept, dtype), np.empty(kept, np.int64)
                for row in ("median.dim", "nanmedian.dim"):
                    same(row, outs, x, (dim,), True)
                for k in {1, (x.shape[dim] + 1) // 3 or 1, x.shape[dim]}:
                    same("kthvalue", outs, x, k, (dim,), True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("row", ["median", "nanmedian"])
def test_of_everything(row, dtype):
    for shape in SHAPES:
        same(row, (np.empty((), dtype),), numbers(shape, dtype))
    same(row, (np.empty((), dtype),), np.full(200, 3, dtype))


def test_wide_numbers():
    x = np.random.default_rng(2).integers(-(1 << 62), 1 << 62, 5000)
    x[::50] = x[7]
    same("median", (np.empty((), np.int64),), x)
    for k in (1, 2500, 5000):
        same("kthvalue", (np.empty(1, np.int64), np.empty(1, np.int64)), x, k, (0,), True)
