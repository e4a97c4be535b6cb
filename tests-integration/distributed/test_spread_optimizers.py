"""Optimizers on spread parameters end where torch's do, those that write results into given tensors among them."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_optimizers_step_as_those_of_torch(launch):
    ours, theirs = (launch(library, "spread_optimizers.py") for library in ("mindtorch", "torch"))
    assert ours.keys() == theirs.keys()
    for way, values in theirs.items():
        assert ours[way] == pytest.approx(values, rel=1e-5, abs=1e-6), way
