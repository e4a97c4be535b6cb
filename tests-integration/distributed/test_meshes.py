"""Meshes say of themselves what torch's do."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


@pytest.mark.parametrize("ranks", [2, 4])
def test_meshes_are_shown_as_those_of_torch(launch, ranks):
    ours, theirs = (launch(library, "meshes.py", ranks=ranks) for library in ("mindtorch", "torch"))
    assert len(theirs) > 15
    assert ours == theirs
