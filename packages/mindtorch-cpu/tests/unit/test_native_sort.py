"""The native sort: numpy's stable order for every kind of number, along any dimension, both ways."""

import numpy as np
import pytest

import mindtorch_cpu.ops  # noqa: F401 (registers the kernels)
from mindtorch_cpu import native
from mindtorch_dispatch.table import kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
TYPES = [np.bool_, np.uint8, np.int8, np.int16, np.int32, np.int64, np.float32, np.float64]
SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-42, -1e-42, 3e38]


def check(x, axis=-1, strided=False):
    """The native kernel gives what numpy's gives, ascending and descending."""
    shape = (*x.shape, 2) if strided else x.shape
    for descending in (False, True):
        made = []
        for function in (native_kernel("sort"), kernels["cpu"]["sort"].fn.numpy):
            values, places = np.zeros(shape, x.dtype), np.full(shape, -1, np.int64)
            outs = (values[..., 0], places[..., 0]) if strided else (values, places)
            function(outs, x, axis, descending)
            made.append(outs)
        np.testing.assert_array_equal(made[0][1], made[1][1])
        np.testing.assert_array_equal(made[0][0], made[1][0])
        if x.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(made[0][0]), np.signbit(made[1][0]))


def numbers(shape, dtype, span=None, seed=0):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        made = np.asarray(generator.standard_normal(shape) * 100).astype(dtype)
        for place, value in enumerate(SPECIAL):
            if place * 3 < made.size:
                made.reshape(-1)[place * 3] = value
        return made
    if dtype is np.bool_:
        return np.asarray(generator.random(shape) < 0.5)
    limits = np.iinfo(dtype)
    low, high = (limits.min, limits.max) if span is None else (0, min(span, limits.max))
    return np.asarray(generator.integers(low, high, shape, dtype, endpoint=True))


@pytest.mark.parametrize("dtype", TYPES)
def test_lines_of_every_length(dtype):
    for count in (1, 2, 3, 17, 64, 65, 300, 5000):
        check(numbers((count,), dtype))
        check(numbers((3, count), dtype, span=5))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_any_dimension_and_any_strides(dtype):
    x = numbers((6, 70, 5), dtype)
    for axis in range(-3, 3):
        check(x, axis)
        check(x.transpose(2, 0, 1), axis, strided=True)
        check(x[::-1, ::2], axis)


def test_numbers_that_fill_all_bits():
    for dtype in (np.int64, np.float64):
        check(numbers((200,), dtype))
        check(numbers((40,), dtype))
    check(np.array([2**63 - 1, -(2**63), 0, -1, 1] * 30))


def test_empty_lines_and_threads(threads):
    check(np.empty((0, 3), np.float32), 0)
    check(np.empty((3, 0), np.float32))
    check(numbers((300, 200), np.float32))


def test_what_is_left_to_numpys():
    for values in ((np.float32(1).reshape(()), 0, False), (np.ones(3, np.float16), 0, False)):
        shape = values[0].shape
        with pytest.raises(AssertionError, match="left this"):
            native_kernel("sort")((np.empty(shape, values[0].dtype), np.empty(shape, np.int64)), *values)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("largest", [True, False])
def test_topk_of_strided_lines_is_that_of_dense_ones(dtype, largest):
    """The same kernel selects, so that equal numbers are found at the same places."""
    x = (np.arange(4 * 900).reshape(900, 4) * 7919 % 13).astype(dtype)
    values, places = np.empty((6, 4), dtype), np.empty((6, 4), np.int64)
    dense = np.empty((4, 6), dtype), np.empty((4, 6), np.int64)
    topk = kernels["cpu"]["topk"].fn
    topk((values, places), x, 6, 0, largest, True)
    topk(dense, np.ascontiguousarray(x.T), 6, 1, largest, True)
    np.testing.assert_array_equal(values, dense[0].T)
    np.testing.assert_array_equal(places, dense[1].T)
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, 0))
