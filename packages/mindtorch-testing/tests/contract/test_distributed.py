"""Ranks of ours and of torch with gloo do the same: values, errors and their texts."""

import pytest

from mindtorch_testing.distributed import kills, misuses, ranks, restarts

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="the engine of several processes")

DIFFERENT = {
    "column": "torch's gloo reads the elements of a column as if they were neighbours in memory",
    "mixed": "torch names the functions in the order of a set, which differs from run to run",
}
"""Scenarios whose texts differ, and why."""


def outcomes(library, size):
    return ranks.answers(["-m", "mindtorch_testing.distributed.scenarios", library], size, "OUTCOMES ", 200)


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_ranks_do_as_those_of_torch(size):
    ours, theirs = outcomes("mindtorch", size), outcomes("torch", size)
    different = [
        f"{name}, rank {rank}:\n  ours   {ours[rank].get(name)}\n  torch  {expected}"
        for rank, all_expected in enumerate(theirs)
        for name, expected in all_expected.items()
        if ours[rank].get(name) != expected and name not in DIFFERENT
    ]
    assert len(ours[0]) > 140
    assert not different, "\n".join(different)


def test_misuses_are_refused_with_the_texts_of_torch():
    said = {
        library: ranks.answers(["-m", "mindtorch_testing.distributed.misuses", library], 1, "TEXTS ", 200)[0]
        for library in ("torch", "mindtorch")
    }
    assert {part: list(texts) for part, texts in said["torch"].items()} == misuses.MISUSES
    different = [
        f"{part}, {statement}:\n  ours   {said['mindtorch'][part][statement]}\n  torch  {expected}"
        for part, texts in said["torch"].items()
        for statement, expected in texts.items()
        if said["mindtorch"][part][statement] != expected and statement not in misuses.DIFFERENT
    ]
    assert not different, "\n".join(different)


def test_a_killed_rank_is_noticed():
    assert kills.main(["--count", "2", "--size", "2"]) == 0


def test_training_goes_on_after_a_kill():
    assert restarts.main(["--count", "1", "--steps", "3"]) == 0


@pytest.mark.parametrize(
    "point",
    [
        point if point == "after a barrier" else pytest.param(point, marks=pytest.mark.slow)
        for point in ("before the start", "at the first question", "before a barrier", "after a barrier",
                      "before a value", "after the start", "before the group", "before the first read")
    ],
)  # fmt: skip
def test_a_rank_that_is_killed_while_others_join_is_noticed(point):
    assert kills.main(["--at", point, "--size", "2"]) == 0
