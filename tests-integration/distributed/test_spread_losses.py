"""Cross entropy of logits whose classes are spread over three ranks, beside torch's; nothing is gathered."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def close(ours, theirs):
    """Numbers within lists agree but for rounding; everything else is the same."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for own, their in zip(ours, theirs, strict=True):
            close(own, their)
    else:
        assert ours == (pytest.approx(theirs, rel=1e-5, abs=1e-6) if isinstance(theirs, float) else theirs)


def test_losses_are_those_of_torch(launch):
    ours, torchs = (launch(library, "spread_losses.py", ranks=3) for library in ("mindtorch", "torch"))
    assert ours.keys() == torchs.keys()
    # Of images torch writes a gradient to other places than one process does; ours are those of one process.
    value, placements, of_gradient, gradient, shape = ours.pop("images")
    theirs = torchs.pop("images")
    close([value, gradient], torchs["alone"])
    close([value, placements, of_gradient, shape], [theirs[0], theirs[1], theirs[2], theirs[4]])
    assert ours.pop("gathers") == torchs.pop("gathers") == []
    for name, found in torchs.items():
        close(ours[name], found)
