"""Data of trainings that begin again, and functions that one process calls for all, beside torch."""

import importlib

import pytest

from mindtorch_testing import assert_torch_error

pytest.importorskip("torch", reason="oracle")


def of(side, name):
    return importlib.import_module(f"{side}.distributed.{name}")


def sampled(side, start):
    made = [
        of(side, "elastic.utils.data").ElasticDistributedSampler(list(range(10)), 2, rank, start) for rank in (0, 1)
    ]
    first = [list(one) for one in made]
    for one in made:
        one.set_epoch(3)
    return first, [list(one) for one in made], len(made[0])


@pytest.mark.parametrize("start", [0, 3, 9])
def test_what_was_seen_is_left_out_and_the_rest_spread_as_torch_does(start):
    assert sampled("mindtorch", start) == sampled("torch", start)


def test_a_start_behind_the_end_is_refused_as_torch_does():
    assert_torch_error(lambda: sampled("mindtorch", 10), lambda: sampled("torch", 10))


def test_epochs_follow_one_another():
    ours, theirs = (
        of(side, "elastic.utils.data").CyclingIterator(3, lambda epoch: iter(range(epoch)), 1)
        for side in ("mindtorch", "torch")
    )
    assert list(ours) == list(theirs) == [0, 0, 1]


def fails():
    raise ValueError("of its own")


@pytest.mark.parametrize("call", ["broadcast", "all_gather"])
@pytest.mark.parametrize("stage", [None, "loading"])
def test_what_a_function_raises_is_told_as_torch_does(call, stage):
    assert_torch_error(
        lambda: getattr(of("mindtorch", "collective_utils"), call)(fails, stage_name=stage),
        lambda: getattr(of("torch", "collective_utils"), call)(fails, stage_name=stage),
    )


def test_no_value_is_told_with_a_failure():
    assert_torch_error(
        lambda: of("mindtorch", "collective_utils").broadcast(1, success=False),
        lambda: of("torch", "collective_utils").broadcast(1, success=False),
    )
