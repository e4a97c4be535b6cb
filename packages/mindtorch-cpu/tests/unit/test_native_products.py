"""Native matrix products against float64: sizes around the tiles, strides, batches, scaling, one thread and several."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import matmul

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


def laid_out(values: np.ndarray, how: str) -> np.ndarray:
    """The same values: dense, transposed in memory, every second of a wider array, or backwards."""
    if how == "dense":
        return np.ascontiguousarray(values)
    if how == "transposed":
        return np.ascontiguousarray(values.swapaxes(-1, -2)).swapaxes(-1, -2)
    if how == "backwards":
        return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
    wide[..., ::2] = values
    return wide[..., ::2]


def check(out: np.ndarray, want: np.ndarray, depth: int) -> None:
    eps = np.finfo(out.dtype).eps
    np.testing.assert_allclose(out, want, rtol=8 * eps, atol=2 * eps * depth)


LAYOUTS = ("dense", "transposed", "spread", "backwards")
SIZES = (
    (1, 1, 1), (1, 70, 33), (3, 65, 130), (8, 17, 9), (9, 9, 9), (12, 32, 16), (13, 33, 400), (25, 70, 5), (70, 4, 50),
    (200, 100, 390), (790, 35, 780), (26, 40, 1700), (5, 1, 700), (1, 1, 1000), (40, 1100, 20),
    (0, 3, 2), (2, 0, 3), (3, 4, 0), (30, 40, 0),
)  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_layout(size: tuple[int, int, int], dtype: str, threads: int) -> None:
    rows, columns, depth = size
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((rows, depth)), rng.standard_normal((depth, columns))
    left, right = left.astype(dtype), right.astype(dtype)
    want = left.astype("f8") @ right.astype("f8")
    for a, b, c in itertools.product(LAYOUTS, LAYOUTS, ("dense", "transposed")):
        out = laid_out(np.full((rows, columns), np.nan, dtype), c)
        native_kernel("mm")(out, laid_out(left, a), laid_out(right, b))
        check(out, want, depth)


@pytest.mark.parametrize("size", [(4, 3, 20, 30), (2, 1, 40, 64), (5, 50, 1, 8), (1, 100, 90, 70), (3, 7, 2, 0)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches(size: tuple[int, int, int, int], dtype: str, threads: int) -> None:
    count, rows, columns, depth = size
    rng = np.random.default_rng(1)
    left = rng.standard_normal((count, rows, depth)).astype(dtype)
    right = rng.standard_normal((count, depth, columns)).astype(dtype)
    want = left.astype("f8") @ right.astype("f8")
    for a, b in itertools.product(LAYOUTS, LAYOUTS):
        out = np.full((count, rows, columns), np.nan, dtype)
        native_kernel("mm")(out, laid_out(left, a), laid_out(right, b))
        check(out, want, depth)
    out = np.full((count, rows, columns), np.nan, dtype)
    shared = np.broadcast_to(right[:1], right.shape)
    native_kernel("mm")(out, left, shared)
    check(out, left.astype("f8") @ right[:1].astype("f8"), depth)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 40, 20), (30, 50, 500), (6, 3, 0), (40, 5, 8)])
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0, 2.5), (0.5, -1.5), (2.0, 1)])
def test_scaled(rows: int, columns: int, depth: int, beta: float, alpha: float, threads: int) -> None:
    rng = np.random.default_rng(2)
    left = rng.standard_normal((rows, depth), "f4")
    right = rng.standard_normal((depth, columns), "f4")
    for shape in ((columns,), (rows, columns), (rows, 1), (1, 1), ()):
        addend = rng.standard_normal(shape, "f4")
        if beta == 0:
            addend = np.full(shape, np.nan, "f4")
        want = alpha * (left.astype("f8") @ right.astype("f8"))
        if beta != 0:
            want = want + beta * addend.astype("f8")
        out = np.full((rows, columns), np.nan, "f4")
        native_kernel("addmm")(out, addend, left, right, beta, alpha)
        check(out, want, depth)
        flipped = np.full((columns, rows), np.nan, "f4").T
        native_kernel("addmm")(flipped, addend, left, right, beta, alpha)
        check(flipped, want, depth)
    out = rng.standard_normal((rows, columns), "f4")
    want = alpha * (left.astype("f8") @ right.astype("f8")) + beta * out.astype("f8")
    native_kernel("addmm")(out, out, left, right, beta, alpha)
    check(out, want, depth)


@pytest.mark.parametrize(("rows", "depth"), [(1, 70), (33, 40), (300, 500)])
def test_vectors(rows: int, depth: int, threads: int) -> None:
    rng = np.random.default_rng(3)
    matrix, vector = rng.standard_normal((rows, depth), "f4"), rng.standard_normal(2 * depth).astype("f4")[::2]
    want = matrix.astype("f8") @ vector.astype("f8")
    for how in LAYOUTS:
        out = np.empty(rows, "f4")
        native_kernel("mm")(out, laid_out(matrix, how), vector)
        check(out, want, depth)
        native_kernel("addmm")(out, np.ones(rows, "f4"), laid_out(matrix, how), vector, 2, 1)
        check(out, want + 2, depth)
    single = np.empty((), "f4")
    native_kernel("mm")(single, vector, matrix[0])
    check(single, want[0], depth)


def test_special_values_and_threads(threads: int) -> None:
    rng = np.random.default_rng(4)
    left, right = rng.standard_normal((150, 200), "f4"), rng.standard_normal((200, 170), "f4")
    left[3, 5], left[70, 6], right[9, 40] = np.nan, np.inf, -np.inf
    out = np.empty((150, 170), "f4")
    native_kernel("mm")(out, left, right)
    with np.errstate(invalid="ignore"):
        want = left.astype("f8") @ right.astype("f8")
    np.testing.assert_array_equal(np.isnan(out), np.isnan(want))
    np.testing.assert_array_equal(out[np.isinf(want)], want[np.isinf(want)].astype("f4"))
    native.module.set_thread_count(2)
    again = np.empty_like(out)
    native_kernel("mm")(again, left, right)
    np.testing.assert_array_equal(again, out)


SHARED = (
    (150, 170, 200), (512, 768, 100), (64, 3072, 40), (3072, 64, 40), (101, 307, 773), (37, 4001, 19), (1, 4001, 333),
    (7, 1029, 400), (900, 5, 301), (1000, 1, 999), (1601, 33, 17),
)  # fmt: skip


@pytest.mark.parametrize("size", SHARED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_element_depends_on_the_number_of_threads(size: tuple[int, int, int], dtype: str) -> None:
    rows, columns, depth = size
    rng = np.random.default_rng(6)
    left, right = rng.standard_normal((rows, depth)).astype(dtype), rng.standard_normal((depth, columns)).astype(dtype)
    addend = rng.standard_normal(columns).astype(dtype)
    before = native.module.thread_count()
    try:
        for a, b in itertools.product(("dense", "transposed"), repeat=2):
            results = []
            for count in (1, 2, 3, 4, 7):
                native.module.set_thread_count(count)
                out = np.full((rows, columns), np.nan, dtype)
                native_kernel("addmm")(out, addend, laid_out(left, a), laid_out(right, b), 0.3, 1.7)
                results.append(out)
            for out in results[1:]:
                np.testing.assert_array_equal(out, results[0])
    finally:
        native.module.set_thread_count(before)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_no_element_of_a_batch_depends_on_the_number_of_threads(count: int) -> None:
    rng = np.random.default_rng(7)
    left, right = rng.standard_normal((count, 77, 210), "f4"), rng.standard_normal((count, 210, 131), "f4")
    before = native.module.thread_count()
    try:
        results = []
        for threads in (1, 2, 3, 4):
            native.module.set_thread_count(threads)
            out = np.full((count, 77, 131), np.nan, "f4")
            native_kernel("mm")(out, left, right)
            results.append(out)
        for out in results[1:]:
            np.testing.assert_array_equal(out, results[0])
    finally:
        native.module.set_thread_count(before)


def test_what_is_left_to_numpy() -> None:
    taken: list[str] = []
    run = native.module.kernel("mm", lambda out, *values: taken.append("numpy"))
    a = np.ones((4, 4), "f4")
    run(np.empty((4, 4), "i8"), a.astype("i8"), a.astype("i8"))
    run(np.empty((4, 4), "f4"), a.astype(">f4"), a)
    run(np.empty((4, 4), "c8"), a.astype("c8"), a.astype("c8"))
    run(a, a, a)
    assert taken == ["numpy"] * 4


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "i8"])
@pytest.mark.parametrize("large", [False, True])
def test_products_of_whole_numbers_are_exact(dtype: str, large: bool) -> None:
    """Large ones wrap around."""
    rng = np.random.default_rng(0)
    most = np.iinfo(dtype).max if large else min(np.iinfo(dtype).max, 1000)
    left, right = (rng.integers(0, most, shape, dtype=dtype, endpoint=True) for shape in ((2, 9, 40), (2, 40, 7)))
    if dtype != "u1":
        right[:, ::2] *= -1
    out = np.empty((2, 9, 7), dtype)
    matmul.mm(out, left, right)
    want = (left.astype(object) @ right.astype(object)) % 2 ** (8 * left.itemsize)
    np.testing.assert_array_equal(out.astype(object) % 2 ** (8 * left.itemsize), want)


@pytest.mark.parametrize(
    "size", [(3, 3, 3), (3, 1, 3), (1, 3, 3), (4, 4, 4), (5, 8, 2), (2, 3, 7), (6, 6, 1), (3, 3, 0)]
)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_tiny_ones_are_those_of_each(size: tuple[int, int, int], layout: str, dtype: str, threads: int) -> None:
    rows, columns, depth = size
    rng = np.random.default_rng(0)
    shapes = ((300, rows, depth), (300, depth, columns), (300, rows, columns))
    left, right, added = (laid_out(rng.standard_normal(shape).astype(dtype), layout) for shape in shapes)
    out, each = np.full(shapes[2], np.nan, dtype), np.full(shapes[2], np.nan, dtype)
    native_kernel("bmm")(out, left, right)
    for at in range(300):
        native_kernel("bmm")(each[at : at + 1], left[at : at + 1], right[at : at + 1])
    np.testing.assert_array_equal(out, each)
    check(out, left.astype("f8") @ right.astype("f8"), depth)
    native_kernel("baddbmm")(out, added, left, right, 0.3, 1.7)
    for at in range(300):
        native_kernel("baddbmm")(each[at : at + 1], *(a[at : at + 1] for a in (added, left, right)), 0.3, 1.7)
    np.testing.assert_array_equal(out, each)


def test_first_product_of_thread_without_depth() -> None:
    # The memory that a thread keeps for its kernels does not exist yet.
    def multiply() -> np.ndarray:
        out = np.full((30, 40), np.nan)
        native_kernel("mm")(out, np.empty((30, 0)), np.empty((0, 40)))
        return out

    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(multiply).result().any()
