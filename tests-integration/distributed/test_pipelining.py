"""Layers spread over three ranks that work on parts of a batch in turn, beside torch's schedules."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def close(ours, theirs):
    """Numbers within lists agree but for rounding; everything else is the same."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for own, their in zip(ours, theirs, strict=True):
            close(own, their)
    else:
        assert ours == (pytest.approx(theirs, rel=1e-5, abs=1e-6) if isinstance(theirs, float) else theirs)


def test_losses_and_gradients_are_those_of_torch(launch):
    ours, torchs = (launch(library, "pipelining.py", ranks=3) for library in ("mindtorch", "torch"))
    for own, their in zip(ours, torchs, strict=True):
        assert own.keys() == their.keys()
        for name in their:
            close(own[name], their[name])


def test_several_stages_a_rank_train_as_torchs(launch):
    ours, torchs = (launch(library, "pipelining_stages.py") for library in ("mindtorch", "torch"))
    for own, their in zip(ours, torchs, strict=True):
        assert own.keys() == their.keys()
        for name in their:
            close(own[name], their[name])
