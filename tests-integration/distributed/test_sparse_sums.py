"""Sparse tensors and sparse gradients on two ranks, beside torch's."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def flat(value):
    """Return all numbers and texts within lists."""
    return [leaf for inner in value for leaf in flat(inner)] if isinstance(value, list) else [value]


def test_sums_are_those_of_torch(torchrun):
    ours, torchs = torchrun("mindtorch", "sparse_sums.py"), torchrun("torch", "sparse_sums.py")
    assert ours.keys() == torchs.keys()
    for name, expected in torchs.items():
        found, wanted = flat(ours[name]), flat(expected)
        assert len(found) == len(wanted), name
        for own, their in zip(found, wanted, strict=True):
            assert own == (pytest.approx(their, abs=1e-6) if isinstance(their, float) else their), name
