"""`fully_shard` whose communication is a program's own, beside torch with gloo: losses, and what is asked of the program."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_a_program_gathers_and_reduces(launch):
    ours, torchs = launch("mindtorch", "own_communication.py"), launch("torch", "own_communication.py")
    assert ours.pop("texts") == torchs.pop("texts")
    assert ours.keys() == torchs.keys()
    assert ours["own"]["calls"]
    for way, found in ours.items():
        assert found["calls"] == torchs[way]["calls"], way
        assert found["losses"] == pytest.approx(torchs[way]["losses"], rel=1e-6), way
        for step, expected in zip(found["sums"], torchs[way]["sums"], strict=True):
            for own, their in zip(step, expected, strict=True):
                assert own == (None if their is None else pytest.approx(their, rel=1e-5, abs=1e-5)), way
