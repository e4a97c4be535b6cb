"""`ZeroRedundancyOptimizer`, averaging and batch norm over processes, beside torch's on two ranks."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def close(ours, theirs):
    """Numbers within lists agree but for rounding."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for own, their in zip(ours, theirs, strict=True):
            close(own, their)
    else:
        assert ours == (pytest.approx(theirs, rel=1e-5, abs=1e-6) if isinstance(theirs, float) else theirs)


def test_states_are_spread_as_torchs(launch):
    ours, torchs = launch("mindtorch", "spread_states.py"), launch("torch", "spread_states.py")
    assert (ours["texts"], ours["own"], ours["told"]) == (torchs["texts"], torchs["own"], torchs["told"])
    assert sum(ours["own"]) == 4
    for way in ("each", "views"):
        for what in ("losses", "moments", "weights", "keys"):
            close(ours[way][what], torchs[way][what])
    close(ours["extended"], torchs["extended"])
    close(ours["averaged"], torchs["averaged"])
    close(ours["normalized"], torchs["normalized"])
