"""Checkpoints of two ranks: torch reads ours and we read torch's, on three; both give the same states."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def leaves(value):
    """Return the leaves of JSON."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


def same(ours, theirs):
    """Structures are equal; numbers but for rounding."""
    assert leaves(ours) == [pytest.approx(n, rel=1e-5, abs=1e-6) if isinstance(n, float) else n for n in leaves(theirs)]


def test_checkpoints_interchange_and_reshard(launch, tmp_path):
    saved, loaded = {}, {}
    for library, other in (("mindtorch", "torch"), ("torch", "mindtorch")):
        folder = tmp_path / library
        folder.mkdir()
        saved[library] = launch(library, "checkpoints.py", "save", folder)
        loaded[other] = launch(other, "checkpoints.py", "load", folder, ranks=3)
        for what in ("model", "optim", "flat"):
            assert loaded[other][what] == saved[library][what], (library, what)
        assert loaded[other]["hf"] == loaded[other]["hf-whole"] == saved[library]["model"]
        assert loaded[other]["broadcast"] == loaded[other]["after"]
        assert (loaded[other]["count"], loaded[other]["note"]) == (6, {"a": "text", "b": [1, 2]})
        assert loaded[other]["next"] == pytest.approx(saved[library]["next"], rel=1e-5)
        assert loaded[other]["rank 0 alone"]
    assert loaded["mindtorch"]["texts"] == loaded["torch"]["texts"]
    same(saved["mindtorch"], saved["torch"])
