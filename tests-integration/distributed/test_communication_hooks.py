"""Hooks and optimizers within the reduction of gradients, beside torch with gloo: losses, sums of parameters, texts."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_hooks_train_as_torchs(launch):
    ours, torchs = launch("mindtorch", "communication_hooks.py"), launch("torch", "communication_hooks.py")
    assert ours["texts"] == torchs["texts"]
    assert ours["runs"].keys() == torchs["runs"].keys()
    for name, found in ours["runs"].items():
        assert found == pytest.approx(torchs["runs"][name], rel=1e-5), name
    plain = ours["runs"]["plain"]
    # Optimizers that step in backward step with averages, as a step after it does, and leave no gradients.
    assert ours["in backward"] == [[pytest.approx(plain[-1], rel=1e-6), 0]] * 2
    for found in ours["bytes"]:
        assert found != plain
        assert found == pytest.approx(plain, rel=2e-2)
