"""Native kernels that combine elements where they land, against numpy's kernels: repeated positions, signs, no numbers."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]


def numbers(shape, dtype, seed=0):
    made = np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)
    if made.dtype.kind == "f" and made.size > 20:
        made.reshape(-1)[[3, 7, 11]] = np.nan, np.inf, -np.inf
    return made


def same(row, target, given, *values):
    kernel = kernels["cpu"][row].fn
    ours, expected = target.copy(order="K"), target.copy(order="K")
    for function, out in ((kernel, ours), (kernel.numpy, expected)):
        with np.errstate(all="ignore"):
            function(out, out if given is target else given, *values)
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_scatter_reduce(reduce, dtype, include):
    for shape, picked, dim in [
        ((6, 7), (6, 20), 1),
        ((6, 7), (30, 5), 0),
        ((300, 90), (300, 70), 1),
        ((90, 300), (200, 300), 0),
        ((8,), (20,), 0),
        ((3, 5, 4), (2, 9, 3), 1),
        ((4, 3), (0, 3), 0),
    ]:
        target, source = numbers(shape, dtype), numbers(picked, dtype, 1)
        index = np.random.default_rng(2).integers(0, shape[dim], picked)
        for given in (target, numbers(shape, dtype, 3)):
            same("scatter_reduce.two", target, given, dim, index, source, reduce, include)
        turned = np.asfortranarray(target)
        same("scatter_reduce.two", turned, turned, dim, np.asfortranarray(index), source, reduce, include)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_rows_with_one_position(reduce):
    target, source = numbers((40, 70), np.float32), numbers((90, 70), np.float32, 1)
    index = np.broadcast_to(np.random.default_rng(2).integers(0, 40, (90, 1)), source.shape)
    same("scatter_reduce.two", target, target, 0, index, source, reduce, True)


def test_positions_out_of_range():
    target, source = numbers((6, 7), np.float32), numbers((6, 7), np.float32)
    for wrong in (-1, 7):
        index = np.full((6, 7), wrong)
        with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds for dimension 1 with size 7"):
            kernels["cpu"]["scatter_reduce.two"].fn(target, target, 1, index, source, "amax", True)
