"""A lane carries tasks out one after another, also those that its own thread waits for."""

import threading

import pytest

from mindtorch_distributed import Lane, Task
from mindtorch_distributed.engine import Done


def test_a_callback_waits_for_tasks_behind_its_own():
    lane, order, ended = Lane("order"), [], threading.Event()

    def within():
        first, second = (Task(Done, lambda name=name: order.append(name)) for name in ("first", "second"))
        lane.submit(first)
        lane.submit(second)
        assert second.wait(5)
        lane.run(Task(Done, lambda: order.append("third")), 5)
        ended.set()

    outer = Task(Done, lambda: order.append("outer"))
    outer.when_done(within)
    lane.submit(outer)
    assert ended.wait(10)
    assert order == ["outer", "first", "second", "third"]
    assert lane.close(5)


def test_a_wait_within_ends_at_its_time():
    lane, found = Lane("late"), []
    outer = Task(Done, lambda: None)
    outer.when_done(lambda: found.append(Task(Done, lambda: None).wait(0.05)))
    lane.submit(outer)
    assert lane.close(10)
    assert found == [False]


@pytest.mark.parametrize("prepared", [True, False])
def test_the_thread_is_prepared_once(prepared):
    seen = []
    lane = Lane("prepared", seen.append if prepared else None)
    for _ in range(2):
        lane.submit(Task(Done, lambda: None))
    assert lane.close(5)
    assert seen == ([lane] if prepared else [])
