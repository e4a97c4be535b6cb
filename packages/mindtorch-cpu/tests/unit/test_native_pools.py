"""Native poolings and their gradients against the numpy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import adaptive_pool, pool

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


def with_ties(extents: tuple[int, ...]) -> np.ndarray:
    """Return small whole numbers, with infinities and nans among them."""
    rng = np.random.default_rng(1)
    x = rng.integers(-5, 5, (2, 3, *extents)).astype("f4")
    lines = x.reshape(2, 3, -1)
    lines[0, 0, : lines.shape[-1] // 3] = -np.inf
    lines[1, 1, rng.random(lines.shape[-1]) < 0.2] = np.nan
    lines[1, 2] = -np.inf
    return x


def results(size: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((2, 3, *size), "f4"), np.full((2, 3, *size), -1, "i8")


def check_backward(x: np.ndarray, index: np.ndarray, dims: int) -> None:
    grad = np.random.default_rng(2).standard_normal(index.shape).astype("f4")
    out, other = np.full_like(x, np.nan), np.empty_like(x)
    native_kernel(f"max_pool{dims}d_with_indices_backward")(out, grad, x, index)
    pool.scatter_add(other, grad, index, dims)
    np.testing.assert_allclose(out, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("extents", "kernel", "stride", "padding", "dilation"),
    [
        ((9, 12), (2, 2), (2, 2), (0, 0), (1, 1)),
        ((11, 10), (3, 3), (2, 1), (1, 1), (1, 1)),
        ((8, 13), (3, 2), (1, 3), (1, 1), (2, 3)),
        ((3, 3), (3, 3), (3, 3), (1, 1), (1, 1)),
        ((1, 700), (1, 2), (1, 2), (0, 0), (1, 1)),
        ((2, 601), (1, 5), (1, 1), (0, 2), (1, 1)),
        ((2, 300), (2, 40), (1, 2), (1, 20), (1, 3)),
        ((5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 0), (1, 1, 2)),
        ((4, 4, 40), (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1)),
    ],
)
def test_largest_of_windows(extents: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, threads: int) -> None:
    x = with_ties(extents)
    size = tuple(
        (e + 2 * p - d * (k - 1) - 1) // s + 1
        for e, k, s, p, d in zip(extents, kernel, stride, padding, dilation, strict=True)
    )
    how = (list(kernel), list(stride), list(padding), list(dilation), False)
    want, got = results(size), results(size)
    pool.max_pool(want, x, *how)
    native_kernel("max_pool2d_with_indices")(got, x, *how)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])
    check_backward(x, got[1], len(kernel))


@pytest.mark.parametrize(
    ("extents", "size"),
    [((9, 12), (3, 4)), ((9, 13), (4, 5)), ((3, 4), (7, 4)), ((5, 6, 7), (2, 3, 7)), ((4, 6, 8), (2, 3, 4))],
)
def test_largest_of_cells(extents: Any, size: Any, threads: int) -> None:
    x = with_ties(extents)
    want, got = results(size), results(size)
    adaptive_pool.largest(want, x, size)
    native_kernel("adaptive_max_pool2d")(got, x, size)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])
    check_backward(x, got[1], len(size))


@pytest.mark.parametrize("channels", [3, 16, 37])
@pytest.mark.parametrize("size", [(3, 4), (4, 5), (7, 14)])
def test_largest_of_cells_with_channels_last(size: Any, channels: int, threads: int) -> None:
    x = laid_out(np.concatenate([with_ties((9, 13))] * 13, 1)[:, :channels], True)
    taken: list[str] = []
    want, got = ([laid_out(np.zeros((2, channels, *size), kind), True) for kind in ("f4", "i8")] for _ in range(2))
    adaptive_pool.largest(tuple(want), x, size)
    native.module.kernel("adaptive_max_pool2d", lambda *values: taken.append("numpy"))(tuple(got), x, size)
    assert not taken
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])


def test_indices_outside_are_left_to_numpy() -> None:
    taken: list[str] = []
    run = native.module.kernel("max_pool2d_with_indices_backward", lambda out, *values: taken.append("numpy"))
    x, grad = np.zeros((1, 1, 4, 4), "f4"), np.ones((1, 1, 2, 2), "f4")
    for wrong in (-1, 16):
        run(x, grad, x, np.array([[[[0, 1], [wrong, 3]]]]))
    assert taken == ["numpy"] * 2


AVERAGES = [
    ((9, 12), (2, 2), (2, 2), (0, 0)),
    ((11, 10), (3, 3), (2, 1), (1, 1)),
    ((8, 13), (3, 2), (1, 3), (1, 1)),
    ((2, 601), (1, 5), (1, 1), (0, 2)),
    ((5, 6, 7), (2, 3, 2), (2, 1, 2), (1, 1, 0)),
]


def laid_out(x: np.ndarray, last: bool) -> np.ndarray:
    """Return the array in dense memory, or with its channels side by side there."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1) if last else np.ascontiguousarray(x)


def only_native(row: str) -> Any:
    """Return the native kernel of a row, which numpy's is not to help."""

    def refuse(out: Any, *values: Any) -> None:
        raise AssertionError(f"{row} was left to numpy")

    return native.module.kernel(row, refuse)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("options", [(True, None), (False, None), (True, 5)])
@pytest.mark.parametrize(("extents", "kernel", "stride", "padding"), AVERAGES)
def test_means_of_windows_have_numpys_bits(
    extents: Any, kernel: Any, stride: Any, padding: Any, options: Any, dtype: str, last: bool, threads: int
) -> None:
    rng = np.random.default_rng(3)
    x = laid_out(rng.standard_normal((2, 5, *extents)).astype(dtype), last)
    size = [(e + 2 * p - k) // s + 1 for e, k, s, p in zip(extents, kernel, stride, padding, strict=True)]
    how = (list(kernel), list(stride), list(padding), False, *options)
    want, got = (laid_out(np.zeros((2, 5, *size), dtype), last) for _ in range(2))
    pool.avg_pool(want, x, *how)
    only_native(f"avg_pool{len(kernel)}d")(got, x, *how)
    np.testing.assert_array_equal(got, want)
    grad, back, other = (
        laid_out(rng.standard_normal(want.shape).astype(dtype), last),
        np.empty_like(x),
        np.empty_like(x),
    )
    pool.avg_pool_backward(other, grad, x, *how)
    only_native(f"avg_pool{len(kernel)}d_backward")(back, grad, x, *how)
    np.testing.assert_array_equal(back, other)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("extents", "size"), [((9, 12), (3, 4)), ((9, 13), (4, 5)), ((3, 4), (7, 4)), ((5, 6, 700), (2, 3, 300))]
)
def test_means_of_cells(extents: Any, size: Any, last: bool, threads: int) -> None:
    rng = np.random.default_rng(4)
    x = laid_out(rng.standard_normal((2, 3, *extents)).astype("f4"), last)
    want, got = (laid_out(np.zeros((2, 3, *size), "f4"), last) for _ in range(2))
    adaptive_pool.average(want, x, size)
    only_native(f"_adaptive_avg_pool{len(size)}d")(got, x, size)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    grad, back, other = laid_out(rng.standard_normal(want.shape).astype("f4"), last), np.empty_like(x), np.empty_like(x)
    backward = adaptive_pool.average2d_backward if len(size) == 2 else adaptive_pool.average3d_backward
    backward(other, grad, x)
    only_native(f"_adaptive_avg_pool{len(size)}d_backward")(back, grad, x)
    np.testing.assert_allclose(back, other, rtol=1e-5, atol=1e-6)
