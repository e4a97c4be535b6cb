"""Interpolation goes through memory as it lies: images whose channels are last are not copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu.ops.upsample import cubic, linear, nearest
from mindtorch_cpu.steps import steps
from mindtorch_cpu.weighted_sums import gather

LYING = {"rows": (0, 1, 2, 3), "last": (0, 2, 3, 1)}


def laid_out(values: Any, order: Any) -> Any:
    """Return an array whose dimensions lie in memory in an order, from the farthest to the nearest."""
    return np.ascontiguousarray(values.transpose(order)).transpose(np.argsort(order))


@pytest.mark.parametrize("axis", [2, 3])
@pytest.mark.parametrize("lying", LYING)
@pytest.mark.parametrize("kind", [nearest, linear, cubic])
def test_lines_are_read_and_written_where_they_lie(
    kind: Any, lying: str, axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(2).standard_normal((2, 5, 6, 7)).astype("f4")
    table = kind(x.shape[axis], 9, False, None, np.float32)
    want = gather(x, table, axis)
    given, target = (laid_out(one, LYING[lying]) for one in (x, np.empty_like(want)))
    step, seen = steps["weighted_gather"], []

    def look(out: Any, lines: Any, *rest: Any) -> None:
        seen.append((np.shares_memory(lines, given), np.shares_memory(out, target)))
        step(out, lines, *rest)

    monkeypatch.setitem(steps, "weighted_gather", look)
    assert gather(given, table, axis, target) is target
    assert seen == [(True, True)]
    np.testing.assert_array_equal(target, want)
    other = laid_out(np.empty_like(want), (1, 0, 2, 3))
    np.testing.assert_array_equal(gather(given, table, axis, other), want)
