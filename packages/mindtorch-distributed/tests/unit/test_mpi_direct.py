"""Reductions by reading and writing the memory of others: here threads of one process, which uses its own."""

import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from mindtorch_distributed import engine
from mindtorch_distributed.engine import Done, Request
from mindtorch_distributed.mpi.direct import BLOCK, Direct, allow

pytestmark = pytest.mark.skipif(not allow(), reason="this system lets no process use the memory of another")

Array = np.ndarray[Any, Any]


class Meeting:
    """What ranks that are threads tell each other."""

    def __init__(self, size: int) -> None:
        self.size, self.told = size, [np.zeros(2, np.int64)] * size
        self.gate = threading.Barrier(size)

    def rank(self, number: int) -> Direct:
        """A rank."""

        def tell(numbers: Array, own: Array) -> Request:
            self.told[number] = own.copy()
            self.gate.wait(30)
            numbers[:] = np.concatenate(self.told)
            return barrier()

        def barrier() -> Request:
            self.gate.wait(30)
            return Done()

        return Direct(number, [os.getpid()] * self.size, tell, barrier)


def on_all(size: int, call: Callable[[Direct, int], Any]) -> list[Any]:
    meeting = Meeting(size)
    with ThreadPoolExecutor(size) as threads:
        return list(threads.map(lambda number: call(meeting.rank(number), number), range(size)))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("count", [1, 7, BLOCK // 4, BLOCK + 5, 3 * BLOCK + 1])
def test_every_element_is_reduced_once_also_where_parts_are_uneven(size: int, count: int) -> None:
    arrays = [np.arange(count, dtype=np.float32) + number for number in range(size)]
    wanted: Array = np.sum([array.astype(np.float64) for array in arrays], axis=0)
    on_all(size, lambda direct, number: direct.all_reduce(arrays[number], engine.SUM).finish())
    for array in arrays:
        np.testing.assert_array_equal(array, wanted)


def test_each_rank_gets_its_part_and_no_input_changes() -> None:
    arrays = [np.arange(3 * BLOCK, dtype=np.int64) * (number + 1) for number in range(3)]
    outputs = [np.zeros(BLOCK, np.int64) for _ in arrays]
    on_all(3, lambda direct, number: direct.reduce_scatter(outputs[number], arrays[number], engine.MAX).finish())
    np.testing.assert_array_equal(np.concatenate(outputs), np.arange(3 * BLOCK) * 3)
    for number, array in enumerate(arrays):
        np.testing.assert_array_equal(array, np.arange(3 * BLOCK) * (number + 1))


def test_numbers_that_overflow_warn_nobody() -> None:
    arrays = [np.full(8, 3e38, np.float32) for _ in range(2)]

    def reduce(direct: Direct, number: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            direct.all_reduce(arrays[number], engine.SUM).finish()

    on_all(2, reduce)
    assert np.isinf(arrays[0]).all()


def test_arrays_of_different_lengths_are_refused_before_any_is_touched() -> None:
    arrays = [np.ones(5), np.ones(6)]

    def reduce(direct: Direct, number: int) -> str:
        with pytest.raises(ValueError, match="different numbers of bytes") as caught:
            direct.all_reduce(arrays[number], engine.SUM).finish()
        return str(caught.value)

    assert on_all(2, reduce) == ["the arrays of the ranks have different numbers of bytes: [40, 48]"] * 2
    assert all((array == 1).all() for array in arrays)


class Never:
    """A request whose other ranks do not come."""

    def test(self) -> bool:
        """Return False."""
        return False

    def finish(self) -> None:
        """Never called."""

    def source(self) -> int:
        """No message came."""
        return -1


def test_an_array_that_others_may_still_write_stays() -> None:
    direct, given = Direct(0, [os.getpid()], lambda numbers, own: Never(), Never), np.ones(3)
    array = weakref.ref(given)
    assert not direct.all_reduce(given, engine.SUM).test()
    del given
    gc.collect()
    assert array() is not None


def test_an_array_goes_when_all_is_done() -> None:
    given = [np.ones(3)]
    array = weakref.ref(given[0])
    on_all(1, lambda direct, number: direct.all_reduce(given[0], engine.SUM).finish())
    given.clear()
    gc.collect()
    assert array() is None


def test_meeting_without_a_rank_that_ended_names_it() -> None:
    def tell(numbers: Array, own: Array) -> Request:
        numbers[2:] = own  # as MPI ends it: nothing of rank 0 came
        return Done()

    direct = Direct(1, [os.getpid()] * 2, tell, Done)
    with pytest.raises(engine.PeerEndedError) as caught:
        direct.all_reduce(np.ones(5, np.float32), engine.SUM).finish()
    assert caught.value.ranks == [0]
