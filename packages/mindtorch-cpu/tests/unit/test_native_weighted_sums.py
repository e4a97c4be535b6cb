"""Native sums of weighted elements of lines against numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native, weighted_sums
from mindtorch_cpu.ops import grid_sample, upsample
from mindtorch_cpu.weighted_sums import WeightTable

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


def drawn(rng: Any, extent: int, counts: Any, weighted: bool, dtype: str) -> WeightTable:
    begins = np.concatenate([[0], np.cumsum(counts)]).astype("i8")
    index = rng.integers(0, extent, begins[-1])
    return WeightTable(begins, index, rng.standard_normal(len(index)).astype(dtype) if weighted else None)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("counts", [[1] * 9, [2] * 7, [4] * 5, [0, 3, 1, 0, 7, 2, 5], [0, 0], []])
@pytest.mark.parametrize("inner", [1, 2, 19])
@pytest.mark.parametrize("outer", [1, 6, 3000])
def test_gather(outer: int, inner: int, counts: Any, weighted: bool, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    given = drawn(rng, 11, counts, weighted, dtype)
    lines = rng.standard_normal((outer, 11, inner)).astype(dtype)
    out, want = np.full((outer, len(counts), inner), np.nan, dtype), np.empty((outer, len(counts), inner))
    native_kernel("steps.weighted_gather")(out, lines, *given)
    weighted_sums._gather(want, lines.astype("f8"), *given)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("counts", [[1] * 9, [0, 3, 1, 0, 7, 2, 5], []])
@pytest.mark.parametrize("outer", [1, 6, 3000])
def test_spread_and_products(outer: int, counts: Any, weighted: bool, dtype: str, threads: int) -> None:
    rng = np.random.default_rng(0)
    given = drawn(rng, 11, counts, weighted, dtype)
    places = rng.standard_normal((outer, len(counts), 1)).astype(dtype)
    out, want = np.full((outer, 11, 1), np.nan, dtype), np.empty((outer, 11, 1))
    native_kernel("steps.weighted_scatter")(out, places, *given)
    weighted_sums._scatter(want, places.astype("f8"), *given)
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)
    lines = rng.standard_normal((outer, 11)).astype(dtype)
    sums, wanted = np.full(len(given.index), np.nan, dtype), np.empty(len(given.index))
    native_kernel("steps.weight_grads")(sums, places[..., 0], lines, given.begins, given.index)
    weighted_sums._weight_grads(wanted, places[..., 0].astype("f8"), lines.astype("f8"), given.begins, given.index)
    np.testing.assert_allclose(sums, wanted, rtol=2e-4, atol=2e-4)


def test_the_transpose_spreads() -> None:
    rng = np.random.default_rng(0)
    given = drawn(rng, 5, [2, 0, 3, 1], True, "f4")
    places = rng.standard_normal((2, 4, 1)).astype("f4")
    out, want = np.empty((2, 5, 1), "f4"), np.empty((2, 5, 1), "f4")
    native_kernel("steps.weighted_gather")(out, places, *given.transposed(5))
    native_kernel("steps.weighted_scatter")(want, places, *given)
    np.testing.assert_allclose(out, want, rtol=1e-6, atol=1e-6)


def test_what_leads_outside_is_left_to_numpy() -> None:
    taken: list[str] = []
    run = native.module.kernel("steps.weighted_gather", lambda out, *values: taken.append("numpy"))
    lines, out = np.zeros((1, 3, 1), "f4"), np.zeros((1, 2, 1), "f4")
    for begins, index in (([0, 1, 2], [0, 3]), ([0, 1, 2], [-1, 0]), ([0, 2, 1], [0]), ([0, 1, 3], [0, 1])):
        run(out, lines, np.array(begins), np.array(index), None)
    assert taken == ["numpy"] * 4


@pytest.mark.parametrize("kind", [upsample.nearest, upsample.linear, upsample.cubic])
def test_an_infinite_element_stays_in_its_places(kind: Any) -> None:
    """Places that are not made of it are finite, forward and backward."""
    made = kind(9, 20, False, None, np.float32)
    x = np.ones((1, 9), "f4")
    x[0, 4] = np.inf
    seen = np.array([4 in made.index[begin:end] for begin, end in zip(made.begins, made.begins[1:], strict=False)])
    np.testing.assert_array_equal(np.isfinite(weighted_sums.gather(x, made, 1))[0], ~seen)
    slopes = np.ones((1, 20), "f4")
    slopes[0, 0] = np.inf
    reached = np.isin(np.arange(9), made.index[: made.begins[1]])
    np.testing.assert_array_equal(np.isfinite(weighted_sums.gather(slopes, made.transposed(9), 1))[0], ~reached)


@pytest.mark.parametrize("mode", [grid_sample.BILINEAR, grid_sample.NEAREST])
@pytest.mark.parametrize("padding", [grid_sample.ZEROS, grid_sample.BORDER])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("spatial", [(7, 5), (1, 4), (1, 1)])
def test_points_of_a_grid(spatial: tuple[int, int], mode: int, padding: int, align: bool) -> None:
    rng = np.random.default_rng(0)
    grid = np.concatenate(
        [rng.uniform(-1.6, 1.6, (50, 2)), rng.integers(-2, 3, (20, 2)) / 2, [[1e20, 0], [0, -np.inf]]]
    )
    grid = grid.astype("f4")
    if padding == grid_sample.ZEROS:
        grid[5] = np.nan

    def outs() -> tuple[np.ndarray, ...]:
        most = 4 * len(grid)
        return (np.zeros(len(grid) + 1, "i8"), np.zeros(most, "i8"), *(np.zeros(most, "f4") for _ in range(3)))

    got, want = outs(), outs()
    native_kernel("steps.grid_weights")(got, grid, spatial, mode, padding, align)
    grid_sample._grid_weights(want, grid, spatial, mode, padding, align)
    np.testing.assert_array_equal(got[0], want[0])
    end = got[0][-1]
    np.testing.assert_array_equal(got[1][:end], want[1][:end])
    if mode == grid_sample.BILINEAR:
        for one, other in zip(got[2:], want[2:], strict=True):
            np.testing.assert_allclose(one[:end], other[:end], rtol=1e-5, atol=1e-6)
