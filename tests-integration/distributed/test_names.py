"""What is not offered can be imported, and says so when it is used; checkpointed modules are transparent."""

import importlib

import pytest

import mindtorch as mt

USES = [
    ("fsdp._runtime_utils", "_lazy_init"),
    ("rpc", "init_rpc"),
    ("optim", "DistributedOptimizer"),
]


@pytest.mark.parametrize(("module", "name"), USES)
def test_a_name_without_a_thing_says_so(module, name):
    found = getattr(importlib.import_module(f"mindtorch.distributed.{module}"), name)
    with pytest.raises(NotImplementedError, match=rf"^torch\.distributed\.{module}.*{name} is not offered$"):
        found(mt.nn.Linear(2, 2))


def test_every_name_of_the_package_can_be_asked_for():
    package = mt.distributed
    assert [name for name in dir(package) if not hasattr(package, name)] == []
    assert not hasattr(package, "_symmetric_memory")
    with package.config.patch(use_torchcomms=True):
        assert package.config.use_torchcomms
    assert not package.config.use_torchcomms
    assert not package.config.compile_on_one_rank


def test_checkpoint_wrapper_is_transparent():
    wrapper = importlib.import_module("mindtorch.distributed.algorithms._checkpoint.checkpoint_wrapper")
    model = mt.nn.Sequential(mt.nn.Linear(3, 3), mt.nn.Tanh(), mt.nn.Linear(3, 1))
    keys, x = list(model.state_dict()), mt.ones(2, 3)
    expected = mt.autograd.grad(model(x).sum(), model[0].weight)[0]
    wrapper.apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, mt.nn.Linear))
    assert isinstance(model[0], wrapper.CheckpointWrapper)
    assert sorted(model.state_dict()) == sorted(keys)
    model.load_state_dict(model.state_dict())
    model(x).sum().backward()
    assert mt.equal(model[0].weight.grad, expected)
