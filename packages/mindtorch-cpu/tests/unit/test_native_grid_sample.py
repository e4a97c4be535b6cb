"""Planes at the points of a grid, and their gradients: the native kernels against numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import grid_sample

from .test_native_pools import only_native

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")

MODES = [(mode, padding, align) for mode in (0, 1, 2) for padding in (0, 1, 2) for align in (False, True)]


def planes_and_grid(points: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return planes, and points inside and outside of them, on their elements, far away, and none at all."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((3, 5, 6, 9)).astype("f4")
    grid = rng.uniform(-1.4, 1.4, (3, *points, 2)).astype("f4")
    grid[0, 0, 0], grid[0, 0, 1], grid[1, 0, 0] = (-1, 1), (0, 0), (np.inf, 0.3)
    grid[1, 0, 1, 0], grid[2, 0, 0], grid[2, 0, 1] = np.nan, 1e30, (0.2, -np.inf)
    return x, grid


@pytest.mark.parametrize("points", [(4, 5), (3, 300)])
@pytest.mark.parametrize(("mode", "padding", "align"), MODES)
def test_planes_at_points(points: Any, mode: int, padding: int, align: bool, threads: int) -> None:
    x, grid = planes_and_grid(points)
    want, got = np.empty((3, 5, *points), "f4"), np.full((3, 5, *points), 7, "f4")
    grid_sample.sample(want, x, grid, mode, padding, align)
    only_native("grid_sampler_2d")(got, x, grid, mode, padding, align)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("mode", "padding", "align"), MODES)
def test_gradients_of_planes_and_points(wanted: Any, mode: int, padding: int, align: bool, threads: int) -> None:
    x, grid = planes_and_grid((4, 50))
    grad = np.random.default_rng(6).standard_normal((3, 5, 4, 50)).astype("f4")
    want, got = ([np.full_like(one, 7) if w else None for one, w in zip((x, grid), wanted, strict=True)] for _ in "ab")
    grid_sample.sample_backward(tuple(want), grad, x, grid, mode, padding, align, list(wanted))
    only_native("grid_sampler_2d_backward")(tuple(got), grad, x, grid, mode, padding, align, list(wanted))
    for one, other in zip(got, want, strict=True):
        if one is not None:
            np.testing.assert_array_equal(one, other)
