"""The fused steps as operators leave what torch's leave."""

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8, "amsgrad": False, "maximize": False}
SGD = {
    "weight_decay": 0.1,
    "momentum": 0.9,
    "lr": 0.1,
    "dampening": 0.2,
    "nesterov": False,
    "maximize": False,
    "is_first_step": False,
}
ADAGRAD = {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-8, "maximize": False}
CASES = [
    *(("_fused_adam_", 5, {**ADAM, **more}) for more in ({}, {"maximize": True}, {"amsgrad": True}, {"lr": "tensor"})),
    *(("_fused_adamw_", 5, {**ADAM, **more}) for more in ({}, {"maximize": True, "amsgrad": True})),
    *(("_fused_sgd_", 3, {**SGD, **more}) for more in ({}, {"nesterov": True, "dampening": 0.0}, {"maximize": True})),
    ("_fused_sgd_", 3, {**SGD, "is_first_step": True}),
    ("_fused_adagrad_", 3, ADAGRAD),
    ("_fused_adagrad_", 3, {**ADAGRAD, "maximize": True}),
]


def _run(lib, name, lists, options, **scale):
    rng = np.random.default_rng(0)
    made = [[np.abs(rng.standard_normal(shape)).astype("f") for shape in ((5, 4), (70,))] for _ in range(lists)]
    columns = [[lib.tensor(array.tolist()) for array in column] for column in made]
    options = {**options, **{key: lib.tensor(value) for key, value in scale.items()}}
    if options["lr"] == "tensor":
        options["lr"] = lib.tensor(0.1)
    if not options.get("amsgrad", True):
        columns[4] = []
    steps = [] if name == "_fused_sgd_" else [[lib.tensor(3.0), lib.tensor(3.0)]]
    returned = getattr(lib, name)(*columns, *steps, **options)
    return returned, [tensor.tolist() for column in columns for tensor in column]


@pytest.mark.parametrize(("name", "lists", "options"), CASES)
@pytest.mark.parametrize("scale", [{}, {"grad_scale": 4.0, "found_inf": 0.0}, {"found_inf": 1.0}])
def test_a_step(name, lists, options, scale):
    returned, found = _run(mt, name, lists, options, **scale)
    expected = _run(torch, name, lists, options, **scale)
    assert returned is expected[0] is None
    for ours, theirs in zip(found, expected[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("short", [1, 2, 3, 4])
def test_lists_of_different_lengths(short):
    def call(lib):
        columns = [[lib.ones(2)] for _ in range(4)] + [[]]
        columns[short] = [lib.ones(2)] if short == 4 else []
        return lambda: lib._fused_adamw_(*columns, [lib.tensor(1.0)], **ADAM)

    assert_torch_error(call(mt), call(torch))
