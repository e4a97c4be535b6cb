"""`torch.nn.parallel._functions`: what is refused, in torch's words."""

import pytest

import mindtorch as mt
import mindtorch.nn.parallel._functions as ours
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.nn.parallel._functions", reason="oracle")

CALLS = {
    "broadcast": lambda T, f: f.Broadcast.apply((0, 1), T.ones(2)),
    "broadcast_to_one": lambda T, f: f.Broadcast.apply((0,), T.ones(2)),
    "gather": lambda T, f: f.Gather.apply(0, 0, T.ones(2), T.ones(2)),
    "reduce": lambda T, f: f.ReduceAddCoalesced.apply(0, 1, T.ones(2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_tensors_of_the_cpu_are_refused_as_in_torch(name):
    assert_torch_error(lambda: CALLS[name](mt, ours), lambda: CALLS[name](torch, theirs))


def test_nothing_is_broadcast_to_nothing():
    assert ours.Broadcast.apply((0, 1)) == theirs.Broadcast.apply((0, 1)) == ()


def test_a_tensor_is_not_split_over_devices():
    with pytest.raises(NotImplementedError, match="copies over several accelerators are not offered"):
        ours.Scatter.apply([0, 1], None, 0, mt.ones(2))
