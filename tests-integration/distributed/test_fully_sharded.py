"""FSDP1's class on two ranks beside torch's, on the same seeds."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

# What one rounding to bfloat16 may change: a loss over such numbers has no more right digits, and which way they are
# rounded depends on the kernels. Torch with AVX2 differs from torch with AVX-512 by 2e-4 in two steps.
HALF = torch.finfo(torch.bfloat16).eps / 2


def test_losses_and_states_are_those_of_torch(launch):
    ours, torchs = launch("mindtorch", "fully_sharded.py"), launch("torch", "fully_sharded.py")
    (total, *refused), (expected, *texts) = ours.pop("again"), torchs.pop("again")
    assert total == pytest.approx(expected, rel=2e-6)
    assert refused == texts
    kept, expected = ours.pop("kept"), torchs.pop("kept")
    assert kept.pop("given"), "an optimizer that loads a state changes it"
    expected.pop("given")  # torch's counts on in the state that is given, where parameters keep their shapes
    for what in ("grads", "doubled"):
        for (name, grad), (known, value) in zip(kept.pop(what).items(), expected.pop(what).items(), strict=True):
            assert name == known
            torch.testing.assert_close(torch.tensor(grad), torch.tensor(value))
    assert kept == expected
    own, their = ours.pop("states"), torchs.pop("states")
    for way, (losses, *rest) in ours.items():
        assert rest == torchs[way][1:], way
        for pair, expected in zip(losses, torchs[way][0], strict=True):
            assert pair == pytest.approx(expected, rel=HALF if way == "half" else 2e-6), way
    for what in ("others", "groups", "summoned", "written", "type", "keys"):
        assert own[what] == their[what], what
    assert own["pair"][0] == own["pair"][1] == pytest.approx(their["pair"][0], rel=2e-5)
    assert own["whole"].keys() == their["whole"].keys()
    for name, (shape, total) in own["whole"].items():
        assert shape == their["whole"][name][0]
        assert name.endswith("in_proj_bias") or total == pytest.approx(their["whole"][name][1], rel=1e-5, abs=2e-5), (
            name
        )
    for name, values in own["optim"].items():
        assert {key: value[0] for key, value in values.items()} == {
            key: value[0] for key, value in their["optim"][name].items()
        }


def test_what_is_chosen_refused_and_warned_of_is_as_in_torch(launch):
    ours, torchs = (launch(library, "fully_sharded_choices.py") for library in ("mindtorch", "torch"))
    # Torch divides gradients of a mesh of (n, 1) by n and adds nothing up. Ours are those of copies of one model.
    assert ours.pop("columns") == pytest.approx(torchs["whole copies"], rel=2e-6)
    assert torchs.pop("columns") != pytest.approx(torchs["whole copies"], rel=2e-3)
    for losses in ours.pop("half"):
        assert losses == pytest.approx(torchs["whole copies"] + [0.0], rel=HALF)
    assert ours.pop("whole copies") == pytest.approx(torchs.pop("whole copies"), rel=2e-6)
    for name, (value, warned) in torchs.items():
        result, own = ours[name]
        assert own == warned, name
        if isinstance(value, list) and isinstance(value[0], float):
            assert result == pytest.approx(value, rel=2e-6), name
        else:
            assert result == value, name
