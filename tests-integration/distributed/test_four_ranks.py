"""Data parallelism, shards, cut layers, pipelines and subgroups of four ranks beside torch's, and checkpoints of 4, 2 and 1."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="several processes need MPI")

WAYS = ["data", "shards", "copies", "cut", "spread", "subgroups", "pipeline"]


def close(ours, theirs):
    """Numbers within lists agree but for rounding; texts are the same."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return ours == (pytest.approx(theirs, rel=1e-5, abs=1e-6) if isinstance(theirs, float) else theirs)


def test_four_ranks_do_what_those_of_torch_do(launch, tmp_path):
    ours, torchs = (launch(library, "four_ranks.py", tmp_path, *WAYS, ranks=4) for library in ("mindtorch", "torch"))
    assert [set(one) for one in ours] == [set(WAYS)] * 4
    for own, their in zip(ours, torchs, strict=True):
        assert [(way, own[way], their[way]) for way in WAYS if not close(own[way], their[way])] == []


def test_checkpoints_of_four_ranks_are_read_by_two_by_four_and_by_one(launch, tmp_path):
    saved = launch("torch", "four_ranks.py", tmp_path, "save", "0", ranks=4)[0]["save"]
    for step, ranks in enumerate([2, 4, 1]):
        loaded = launch("mindtorch", "four_ranks.py", tmp_path, "load", step, step + 1, ranks=ranks)
        assert all(close(one["load"], saved) for one in loaded), (step, ranks)
