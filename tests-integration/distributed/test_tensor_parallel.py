"""`DTensor` and `parallelize_module` on two ranks: logits of one process, and those of torch."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")


def test_logits_are_those_of_one_process_and_of_torch(launch):
    ours = launch("mindtorch", "tensor_parallel.py")
    torchs = launch("torch", "tensor_parallel.py")
    for plan in ("layers", "sequence"):
        for index in (0, 1):
            assert ours[plan][index] == pytest.approx(ours["alone"][index], abs=1e-5), plan
            assert ours[plan][index] == pytest.approx(torchs[plan][index], abs=1e-5), plan
        assert ours[plan][2] == torchs[plan][2] != []


def check_transformers(launch, tmp_path, ranks, by_transformers):
    ours, torchs = (
        launch(library, "transformers_parallel.py", tmp_path, by_transformers, ranks=ranks)
        for library in ("mindtorch", "torch")
    )
    for model, plans in torchs.items():
        for plan, theirs in plans.items():
            found = ours[model][plan]
            if isinstance(theirs, str):  # what transformers says of a model that has no plan
                assert found == theirs
                continue
            for key in ("logits", "losses"):
                assert found[key] == pytest.approx(ours[model]["alone"][key], rel=0, abs=1e-5), (model, plan)
                assert found[key] == pytest.approx(theirs[key], rel=0, abs=1e-5), (model, plan)
            assert found["placements"] == theirs["placements"], (model, plan)
            assert bool(found["placements"]) == (plan != "alone")


RANKS = pytest.mark.parametrize("ranks", [2, 4])


@pytest.mark.slow
@RANKS
def test_models_of_transformers_spread_by_layers_by_sequence_and_with_their_loss(launch, tmp_path, ranks):
    pytest.importorskip("transformers")
    check_transformers(launch, tmp_path, ranks, by_transformers=False)


@pytest.mark.slow
@RANKS
def test_models_that_transformers_spreads_while_it_loads_them(launch, tmp_path, ranks):
    pytest.importorskip("transformers")
    pytest.importorskip("accelerate", reason="transformers asks for it before it spreads a model")
    check_transformers(launch, tmp_path, ranks, by_transformers=True)
