"""Training on two simulated NPUs by `hccl`: losses of one, and no two streams that use the same bytes without an order."""

import ctypes

import pytest

from mindtorch_npu import simulator


@pytest.fixture
def devices(monkeypatch):
    """Two devices whose streams are watched, for the programs that are started."""
    monkeypatch.setenv(simulator.VARIABLE, "Ascend910B3:2,memory=1GiB,races=1")


def test_two_devices_train_as_one(devices, torchrun):
    one = torchrun("mindtorch", "npu_data_parallel.py", 3, 4, options=["--nproc-per-node", "1"])
    two = torchrun("mindtorch", "npu_data_parallel.py", 3, 4)
    assert two["losses"] == pytest.approx(one["losses"], rel=1e-6)  # halves of a batch are added in another order
    assert two["races"] == [[], []]
    assert two["reductions"] > 3 * 2  # a loss, and more than one bucket, in every step


def test_collectives_of_devices(devices, torchrun):
    found = torchrun("mindtorch", "npu_collectives.py")
    assert found["0"]["values"] == found["expected"][0]
    assert found["1"]["values"] == found["expected"][1]
    assert found["0"]["races"] == found["1"]["races"] == []
    assert found["0"]["refused"] == "Cannot use ReduceOp.BAND with HCCL"
    assert "ranks 0 and 1 use device 0 both" in found["0"]["same device"]


def test_a_communicator_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv(simulator.VARIABLE, "Ascend910B3:1,memory=64MiB")
    simulator.replace("Ascend910B3:1,memory=64MiB")
    library = simulator.collectives()
    barrier = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(library.address("HcclBarrier"))
    assert barrier(None, None) == 2
    assert barrier(64, None) == 1
    assert library.address("HcclNothing") is None
