"""`fully_shard` on two ranks beside torch with gloo, on the same seeds; a mesh of copies and parts on four."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

RANKS = [2, pytest.param(4, marks=pytest.mark.slow)]


def same(ours, theirs, tolerance):
    """Losses and norms agree; so do parameters, but for biases of keys, whose gradients are rounding alone."""
    assert {**ours, "losses": 0, "norms": 0, "sums": 0} == {**theirs, "losses": 0, "norms": 0, "sums": 0}
    assert ours["losses"] == pytest.approx(theirs["losses"], rel=tolerance)
    assert ours["norms"] == pytest.approx(theirs["norms"], rel=1e-5)
    for key, own, their in zip(ours["keys"], ours["sums"], theirs["sums"], strict=True):
        if not key.endswith(("in_proj_bias", "words.weight", "head.weight")):
            assert own == pytest.approx(their, rel=100 * tolerance, abs=20 * tolerance), key


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("steps", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_losses_are_those_of_torch(launch, steps, ranks):
    count = ("--nproc-per-node", str(ranks))
    ours = launch("mindtorch", "fully_shard.py", steps, options=count)
    torchs = launch("torch", "fully_shard.py", steps, options=count)
    assert ours.keys() == torchs.keys()
    for way in ours.keys() - {"meta", "methods"}:
        same(ours[way], torchs[way], 2e-4 if way == "half" else 1e-6 if steps < 10 else 1e-5)
    told, losses = ours["meta"]
    assert told == torchs["meta"][0]
    assert losses == pytest.approx(torchs["meta"][1], rel=1e-5)
    (seen, texts), (their_seen, their_texts) = ours["methods"], torchs["methods"]
    assert texts == their_texts
    for own, their in zip(seen, their_seen, strict=True):
        numbers = isinstance(their, float) or (isinstance(their, list) and isinstance(their[0], float))
        assert own == (pytest.approx(their, rel=1e-4, abs=1e-5) if numbers else their)
