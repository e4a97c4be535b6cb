"""The order in which values of several ranks are combined is gloo's."""

from typing import Any

import numpy as np
import pytest

from mindtorch_distributed import engine, order


@pytest.mark.parametrize(
    ("size", "count", "shares"),
    # How many elements of 4 bytes each rank owned when torch 2.13.0 reduced them.
    [(2, 1, [1, 0]), (2, 2, [2, 0]), (2, 3, [2, 1]), (2, 5, [4, 1]), (2, 6, [4, 2]), (2, 9, [6, 3]), (3, 5, [2, 2, 1])],
)
def test_elements_are_owned_as_in_gloo(size: int, count: int, shares: list[int]) -> None:
    found = [0] * size
    for start, stop, owner in order.pieces(0, count, order.owned(count, 4, size)):
        found[owner] += stop - start
    assert found == shares


def test_many_elements_have_segments_of_a_megabyte() -> None:
    assert order.owned(3 << 20, 4, 2) == 6 * (1 << 18)
    assert order.owned((3 << 20) + 1, 4, 2) == 7 * -(-((3 << 20) + 1) // 14)


def test_values_are_added_from_the_rank_before_the_owner_downwards() -> None:
    arrays = [np.array([value] * 8, np.float32) for value in (1.0, 1e8, -1e8, 2.0)]
    result = order.reduced(arrays, engine.SUM, 0, 8)
    # 2 - 1e8 + 1e8 + 1, 1 + 2 - 1e8 + 1e8, 1e8 + 1 + 2 - 1e8, -1e8 + 1e8 + 1 + 2
    np.testing.assert_array_equal(result, [1, 1, 0, 0, 0, 0, 3, 3])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_first_of_two_that_do_not_compare_stays(dtype: Any) -> None:
    arrays = [np.array([np.nan, 1.0, 0.0, 2.0], dtype), np.array([1.0, np.nan, -0.0, 3.0], dtype)]
    for reduction, last in ((engine.MAX, 3.0), (engine.MIN, 2.0)):
        result = order.reduced(arrays, reduction, 0, 4)
        np.testing.assert_array_equal(result, [np.nan, 1.0, 0.0, last])
        assert np.signbit(result[2])  # rank 1 owns it
    assert not order.depends(np.dtype(np.int32), engine.MAX, 3)
