"""Steps over several parameters give each what a step of its own gives: at different counts, of several dtypes, over
shared memory, and with the versions that torch's writes leave."""

from __future__ import annotations

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

OPTIMIZERS = {
    "adam": ("Adam", {}),
    "amsgrad": ("Adam", {"amsgrad": True, "weight_decay": 0.1, "maximize": True}),
    "adamw": ("AdamW", {}),
    "fused adam": ("Adam", {"fused": True}),
    "sgd": ("SGD", {"lr": 0.1}),
    "momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    "adagrad": ("Adagrad", {}),
    "fused adagrad": ("Adagrad", {"fused": True}),
}


def _gradient(lib, param, seed):
    drawn = np.random.default_rng(seed).standard_normal(tuple(param.shape))
    return lib.tensor(drawn.tolist(), dtype=param.dtype)


def _steps(lib, kind, params, skipped=()):
    name, options = OPTIMIZERS[kind]
    optimizer = getattr(lib.optim, name)(params, **options)
    for step in range(4):
        for index, param in enumerate(params):
            param.grad = None if (step, index) in skipped else _gradient(lib, param, 10 * step + index)
        optimizer.step()
    return optimizer


def _fresh(lib, dtypes):
    drawn = [np.random.default_rng(seed).standard_normal(3 + seed).tolist() for seed in range(len(dtypes))]
    return [
        lib.nn.Parameter(lib.tensor(one, dtype=getattr(lib, dtype))) for one, dtype in zip(drawn, dtypes, strict=True)
    ]


def _compare(kind, make, **options):
    found, wanted = (make(lib) for lib in (mt, torch))
    ours, theirs = _steps(mt, kind, found, **options), _steps(torch, kind, wanted, **options)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.detach().tolist(), other.detach().tolist(), rtol=1e-6, atol=1e-7)
        state = ours.state[one]
        assert list(state) == list(theirs.state[other])
        if "step" in state:
            assert state["step"].item() == theirs.state[other]["step"].item()
    return ours, theirs


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_counts_may_differ(kind):
    _compare(kind, lambda lib: _fresh(lib, ["float32"] * 3), skipped={(0, 1), (2, 2)})


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_dtypes_may_differ(kind):
    _compare(kind, lambda lib: _fresh(lib, ["float32", "float64", "float32"]))


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_parameters_may_share_memory(kind):
    def overlapping(lib):
        base = lib.arange(12, dtype=lib.float32)
        return [lib.nn.Parameter(base[start : start + 6]) for start in (0, 3, 6)]

    _compare(kind, overlapping)


@pytest.mark.parametrize("kind", [kind for kind in OPTIMIZERS if "fused" not in kind])
def test_versions_are_those_of_the_single_operators(kind):
    found, wanted = (_fresh(lib, ["float32"] * 3) for lib in (mt, torch))
    ours, theirs = _steps(mt, kind, found), _steps(torch, kind, wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one._version == other._version
        for name, value in ours.state[one].items():
            if value is not None:
                assert (name, value._version) == (name, theirs.state[other][name]._version)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_in_a_pipeline(kind):
    found, wanted = (_fresh(mt, ["float32"] * 2) for _ in range(2))
    _steps(mt, kind, wanted)
    with mt.pipeline():
        _steps(mt, kind, found)
    for one, other in zip(found, wanted, strict=True):
        assert one.tolist() == other.tolist()
