"""The functions behind the optimizers take lists of state and make torch's step."""

import importlib
import inspect

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error
from mindtorch_testing.compare import TOLERANCES, Comparison
from mindtorch_testing.convert import Converter

torch = pytest.importorskip("torch", reason="oracle")

OPTIONS = {
    "rmsprop": {"lr": 0.1, "alpha": 0.9, "eps": 1e-8, "weight_decay": 0.1, "momentum": 0.5, "centered": True},
    "adadelta": {"lr": 0.1, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.1, "maximize": True},
    "adamax": {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1},
    "asgd": {"lr": 0.1, "lambd": 1e-3, "t0": 1.0, "alpha": 0.7, "weight_decay": 0.1},
    "nadam": {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1, "momentum_decay": 4e-3},
    "radam": {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1},
    "rprop": {"step_size_min": 1e-6, "step_size_max": 50.0, "etaminus": 0.5, "etaplus": 1.2},
    "adamw": {
        "amsgrad": True, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8, "weight_decay": 0.1, "maximize": False,
    },
}  # fmt: skip
COUNTERS = ("state_steps", "mus", "etas", "mu_products")


def _function(lib, name):
    return getattr(importlib.import_module(f"{lib.__name__}.optim.{name}"), name)


def _lists(name):
    parameters = list(inspect.signature(_function(torch, name)).parameters)
    return parameters[: parameters.index("state_steps") + 1]


def _values(name):
    generator = torch.Generator().manual_seed(6)
    made = {}
    for entry in _lists(name):
        if entry in COUNTERS:
            made[entry] = [torch.tensor(0.1 if entry == "etas" else float(entry != "state_steps")) for _ in range(2)]
        else:
            made[entry] = [torch.rand(shape, generator=generator) + 0.1 for shape in ((3, 2), (4,))]
    return made


@pytest.mark.parametrize("name", OPTIONS)
def test_three_steps(name):
    converter = Converter(mt)
    theirs, ours = _values(name), converter.to_target(_values(name))
    if name == "rmsprop":  # a centred square is never below the square of its mean
        for value in theirs["grad_avgs"]:
            value.mul_(0.01)
        ours = converter.to_target(theirs)
    for lib, values in ((torch, theirs), (mt, ours)):
        for _ in range(3):
            _function(lib, name)(*values.values(), foreach=False, **OPTIONS[name])
    tolerances = {**TOLERANCES, torch.float32: (1e-5, 1e-6)}
    assert Comparison(converter, tolerances).compare(theirs, ours) == []


@pytest.mark.parametrize("name", OPTIONS)
def test_parameters_of_the_function(name):
    def shown(lib):
        return [(p.name, p.kind.name, p.default) for p in inspect.signature(_function(lib, name)).parameters.values()]

    assert shown(mt) == shown(torch)


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - {"asgd"}))
def test_counters_must_be_tensors(name):
    def call(lib):
        _function(lib, name)(*({} if entry != "state_steps" else [1] for entry in _lists(name)), **OPTIONS[name])

    assert_torch_error(lambda: call(mt), lambda: call(torch))
