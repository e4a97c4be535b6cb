"""Results of functional collectives on two ranks, which wait when they are used, beside torch's."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_results_wait_as_those_of_torch(launch):
    ours, torchs = (launch(library, "waiting_results.py") for library in ("mindtorch", "torch"))
    for own, their in zip(ours, torchs, strict=True):
        assert own.keys() == their.keys()
        assert {name: own[name] for name in own if own[name] != their[name]} == {}
    assert str(torchs[0]).count("AsyncCollectiveTensor") > 30
