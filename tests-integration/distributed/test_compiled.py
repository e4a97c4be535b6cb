"""Functions with collectives, compiled into whole graphs on two ranks, beside torch's."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_graphs_and_results_are_those_of_torch(launch):
    ours, torchs = (launch(library, "compiled.py") for library in ("mindtorch", "torch"))
    for own, their in zip(ours, torchs, strict=True):
        assert own.keys() == their.keys()
        for name, expected in their.items():
            assert own[name] == expected, name
