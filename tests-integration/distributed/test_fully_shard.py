"""`fully_shard` on two ranks beside torch with gloo, on the same seeds; a mesh of copies and parts on four."""

import math

import pytest

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

RANKS = [2, pytest.param(4, marks=pytest.mark.slow)]

# What one rounding to bfloat16 may change, relatively. A loss over numbers that were rounded so has no more right digits
# than that: kernels that add in another order round some of them the other way, and training carries it on. After 50
# steps torch with AVX2 differs from torch with AVX-512 by 5e-4, as much as from training that rounds nothing. The steps
# themselves are checked by the ways in float32, and dtypes are compared exactly.
HALF = torch.finfo(torch.bfloat16).eps / 2
RATE = 1e-3  # of the program's Adam


def by_chance(shape, steps):
    """Return how far the sum of a parameter may be off when gradients are rounded to bfloat16.

    A share `HALF` of the gradients is smaller than what rounding changes: chance gives them a sign, and Adam a step of
    full length. The sum of such steps is within four standard deviations.
    """
    return 4 * 2 * RATE * math.sqrt(max(1, steps * math.prod(shape) * HALF))


def same(ours, theirs, tolerance, steps, half):
    """Losses and norms agree; so do parameters, but for biases of keys, whose gradients are rounding alone."""
    assert {**ours, "losses": 0, "norms": 0, "sums": 0} == {**theirs, "losses": 0, "norms": 0, "sums": 0}
    assert ours["losses"] == pytest.approx(theirs["losses"], rel=tolerance)
    assert ours["norms"] == pytest.approx(theirs["norms"], rel=1e-5)
    for key, (shape, _), own, their in zip(ours["keys"], ours["shapes"], ours["sums"], theirs["sums"], strict=True):
        if not key.endswith(("in_proj_bias", "words.weight", "head.weight")):
            apart = by_chance(shape, steps) if half else max(20 * tolerance, 100 * tolerance * abs(their))
            assert own == pytest.approx(their, rel=0, abs=apart), key


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("steps", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_losses_are_those_of_torch(launch, steps, ranks):
    ours = launch("mindtorch", "fully_shard.py", steps, ranks=ranks)
    torchs = launch("torch", "fully_shard.py", steps, ranks=ranks)
    assert ours.keys() == torchs.keys()
    for way in ours.keys() - {"meta", "methods"}:
        half = way == "half"
        same(ours[way], torchs[way], HALF if half else 1e-6 if steps < 10 else 1e-5, steps, half)
    told, losses = ours["meta"]
    assert told == torchs["meta"][0]
    assert losses == pytest.approx(torchs["meta"][1], rel=1e-5)
    (seen, texts), (their_seen, their_texts) = ours["methods"], torchs["methods"]
    assert texts == their_texts
    for own, their in zip(seen, their_seen, strict=True):
        numbers = isinstance(their, float) or (isinstance(their, list) and isinstance(their[0], float))
        assert own == (pytest.approx(their, rel=1e-4, abs=1e-5) if numbers else their)
