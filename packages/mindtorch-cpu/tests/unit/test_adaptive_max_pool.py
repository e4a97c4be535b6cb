"""Adaptive max pooling of many windows, beside a window at a time."""

from __future__ import annotations

import numpy as np
import pytest

from mindtorch_cpu.ops.adaptive_pool import largest


def _one_at_a_time(x: np.ndarray, counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    spatial = x.shape[-len(counts) :]
    out, index = (
        np.empty((*x.shape[: -len(counts)], *counts), x.dtype),
        np.empty((*x.shape[: -len(counts)], *counts), np.int64),
    )
    for lead in np.ndindex(x.shape[: -len(counts)]):
        for cell in np.ndindex(*counts):
            best = None
            box = [range(at * n // c, -(-(at + 1) * n // c)) for at, n, c in zip(cell, spatial, counts, strict=True)]
            for place in np.ndindex(*map(len, box)):
                at = tuple(one[i] for one, i in zip(box, place, strict=True))
                value = x[(*lead, *at)]
                if best is None or value != value or value > best[0]:
                    best = value, np.ravel_multi_index(at, spatial)
            out[(*lead, *cell)], index[(*lead, *cell)] = best
    return out, index


@pytest.mark.parametrize("counts", [(2,), (9,), (2, 3), (5, 7), (1, 1), (2, 3, 2)])
def test_windows(counts: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).integers(0, 4, (2, 4, 5, 6)[: len(counts) + 1]).astype(np.float64)
    x.reshape(-1)[[3, 7]] = np.nan
    wanted = _one_at_a_time(x, counts)
    out, index = np.empty_like(wanted[0]), np.empty_like(wanted[1])
    largest((out, index), x, counts)
    np.testing.assert_array_equal(out, wanted[0])
    np.testing.assert_array_equal(index, wanted[1])
