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
