"""Programs that call other processes import what they name, and are told when they use it."""

import pytest

import mindtorch.distributed.autograd as dist_autograd
import mindtorch.distributed.rpc as rpc
from mindtorch.distributed.nn import RemoteModule
from mindtorch.distributed.optim import DistributedOptimizer
from mindtorch.distributed.rpc import RRef, remote, rpc_async, rpc_sync

torch = pytest.importorskip("torch", reason="oracle")


def test_nothing_is_available():
    assert not rpc.is_available()
    assert not dist_autograd.is_available()


@pytest.mark.parametrize(
    "use",
    [
        lambda: rpc.init_rpc("worker", rank=0, world_size=1),
        lambda: rpc.TensorPipeRpcBackendOptions(num_worker_threads=16),
        lambda: rpc_sync("worker", print),
        lambda: rpc_async("worker", print),
        lambda: remote("worker", print),
        lambda: RRef(1),
        lambda: dist_autograd.context(),
        lambda: dist_autograd.backward(1, []),
        lambda: dist_autograd.get_gradients(1),
        lambda: RemoteModule("worker", torch.nn.Linear),
        lambda: DistributedOptimizer(torch.optim.SGD, []),
    ],
)
def test_every_use_says_that_it_is_not_offered(use):
    with pytest.raises(NotImplementedError, match="not offered"):
        use()


def test_a_function_that_answers_later_is_marked_as_torchs():
    def answer():
        """Answer."""

    ours, theirs = (module.functions.async_execution(answer) for module in (rpc, torch.distributed.rpc))
    assert ours._wrapped_async_rpc_function is theirs._wrapped_async_rpc_function is answer
    assert (ours.__name__, ours.__doc__) == (theirs.__name__, theirs.__doc__)
