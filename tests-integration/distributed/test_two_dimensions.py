"""Tensor-parallel layers given to `fully_shard`, on four ranks beside torch: parts of parts, checkpoints, strided shards."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

QUICK = ["plain", "everywhere", "checkpoints", "strided"]
ALL = [*QUICK, "accumulated", "one way", "copies", "half"]
TOLERANCE = {"half": 4 * torch.finfo(torch.bfloat16).eps}
"""Relatively: of what is rounded to bfloat16 in every layer. Float32 otherwise, where Adam carries rounding on."""


def apart(ours, theirs, tolerance, path=()):
    """Return where two answers differ: numbers by more than a tolerance, anything else at all."""
    if isinstance(theirs, (dict, list)) and type(ours) is type(theirs) and len(ours) == len(theirs):
        keys = theirs if isinstance(theirs, dict) else range(len(theirs))
        if isinstance(theirs, list) or ours.keys() == theirs.keys():
            return [found for key in keys for found in apart(ours[key], theirs[key], tolerance, (*path, key))]
    if isinstance(theirs, float) and isinstance(ours, float):
        return [] if ours == pytest.approx(theirs, rel=tolerance, abs=tolerance) else [(path, ours, theirs)]
    return [] if ours == theirs else [(path, ours, theirs)]


@pytest.mark.parametrize("ways", [QUICK, pytest.param(ALL, marks=pytest.mark.slow)], ids=["quick", "all"])
def test_parameters_that_are_spread_are_spread_again_as_by_torch(launch, tmp_path, ways):
    answers = {}
    for library in ("mindtorch", "torch"):
        folder = tmp_path / f"{library}-checkpoints"
        folder.mkdir()
        answers[library] = launch(library, "two_dimensions.py", folder, *ways, ranks=4)
    assert [set(one) for one in answers["mindtorch"]] == [set(ways)] * 4
    for ours, theirs in zip(answers["mindtorch"], answers["torch"], strict=True):
        for way in ways:
            assert apart(ours[way], theirs[way], TOLERANCE.get(way, 2e-5))[:3] == [], way
