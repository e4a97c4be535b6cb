"""What programs rely on beyond results: names looked up at call time, storage shared, devices of one process."""

import copy
import pickle

import pytest

import mindtorch as mt
from mindtorch import nn


def test_layers_look_initializers_up_when_called(monkeypatch):
    calls = []
    monkeypatch.setattr(nn.init, "kaiming_uniform_", lambda tensor, *args, **options: calls.append(tensor.shape))
    monkeypatch.setattr(nn.init, "normal_", lambda tensor, *args, **options: calls.append(tensor.shape))
    nn.Linear(2, 3)
    nn.Conv1d(2, 3, 4)
    nn.Embedding(5, 6)
    assert calls == [(3, 2), (3, 2, 4), (5, 6)]


def test_parameter_shares_the_storage_of_its_data():
    data = mt.zeros(3)
    parameter = nn.Parameter(data)
    data[1] = 5
    assert parameter.tolist() == [0, 5, 0]
    assert parameter.data_ptr() == data.data_ptr()
    assert parameter.requires_grad
    assert parameter.is_leaf


def test_copies_and_pickles_of_parameters():
    parameter = nn.Parameter(mt.arange(3.0), requires_grad=False)
    parameter.note = "kept"
    again = pickle.loads(pickle.dumps(parameter))
    assert isinstance(again, nn.Parameter)
    assert (again.tolist(), again.requires_grad, again.note) == ([0, 1, 2], False, "kept")
    other = copy.deepcopy(parameter)
    other[0] = 9
    assert isinstance(other, nn.Parameter)
    assert parameter.tolist() == [0, 1, 2]


def test_results_of_parameters_are_plain_tensors():
    assert type(nn.Parameter(mt.ones(2)) * 2) is mt.Tensor
    assert type(nn.Buffer(mt.ones(2)) + 1) is mt.Tensor
    assert not isinstance(mt.ones(2), nn.Parameter)


def test_lazy_layers_take_their_shape_from_the_first_input():
    layer = nn.LazyLinear(4)
    assert layer.has_uninitialized_params()
    assert layer(mt.ones(2, 3)).shape == (2, 4)
    assert type(layer) is nn.Linear
    assert layer.weight.shape == (4, 3)


def test_data_parallel_without_devices_calls_the_module():
    layer = nn.Linear(2, 3)
    parallel = nn.DataParallel(layer)
    x = mt.ones(1, 2)
    assert parallel(x).tolist() == layer(x).tolist()
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]


def test_distributed_data_parallel_needs_a_process_group():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(2, 3))


def test_hooks_removed_while_they_run_do_not_disturb():
    layer = nn.Linear(2, 2)
    seen = []

    def once(module, args, output):
        seen.append(tuple(output.shape))
        handle.remove()

    handle = layer.register_forward_hook(once)
    layer(mt.ones(1, 2))
    layer(mt.ones(1, 2))
    assert seen == [(1, 2)]
