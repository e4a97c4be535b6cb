"""Meshes say of themselves what torch's do."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


@pytest.mark.parametrize("ranks", [2, 4])
def test_meshes_are_shown_as_those_of_torch(launch, ranks):
    ours, theirs = (launch(library, "meshes.py", ranks=ranks) for library in ("mindtorch", "torch"))
    assert len(theirs) > 15
    assert ours == theirs


def test_parts_of_meshes_are_those_of_torch(launch):
    ours, theirs = (launch(library, "mesh_parts.py", ranks=4) for library in ("mindtorch", "torch"))
    assert len(theirs) == 4
    for own, their in zip(ours, theirs, strict=True):
        for name, found in their.items():
            assert own[name] == found, name
