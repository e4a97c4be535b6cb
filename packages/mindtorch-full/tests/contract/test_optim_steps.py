"""Ten steps of every optimizer leave the same parameters, state and texts as torch's.

The updates are the same operations in the same order; what may differ is how a kernel rounds.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

OPTIONS = {
    "Adam": [
        {},
        {"amsgrad": True},
        {"weight_decay": 0.1, "maximize": True},
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
        {"eps": 1e-3, "betas": (0.5, 0.9), "lr": 0.1},
    ],
    "AdamW": [{}, {"amsgrad": True}, {"weight_decay": 0.5, "maximize": True}],
    "SGD": [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "nesterov": True},
        {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1, "maximize": True},
    ],
    "Adagrad": [{}, {"lr_decay": 0.1}, {"weight_decay": 0.1, "initial_accumulator_value": 0.1, "maximize": True}],
    "Adadelta": [{}, {"weight_decay": 0.1, "maximize": True, "rho": 0.8}],
    "Adamax": [{}, {"weight_decay": 0.1, "maximize": True}],
    "ASGD": [{}, {"weight_decay": 0.1, "maximize": True, "t0": 3}, {"lambd": 0.1}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}],
    "RAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}],
    "RMSprop": [
        {},
        {"momentum": 0.9, "maximize": True},
        {"centered": True, "momentum": 0.9, "weight_decay": 0.1},
        {"centered": True},
    ],
    "Rprop": [{}, {"maximize": True, "etas": (0.3, 1.5)}],
    "Adafactor": [{}, {"weight_decay": 0.1, "maximize": True, "eps": (1e-3, 1e-2)}],
    "Muon": [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw"}],
}
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]
STEPS = 10


def _arrays(seed, name, dtype):
    rng = np.random.default_rng(seed)
    shapes = [(3, 4), (6, 2)] if name == "Muon" else [(3, 4), (5,), ()]
    return [np.asarray(rng.standard_normal(shape), dtype=dtype) for shape in shapes]


def _params(lib, name, dtype):
    return [lib.nn.Parameter(lib.tensor(a.tolist(), dtype=getattr(lib, dtype))) for a in _arrays(0, name, dtype)]


def _give_gradients(lib, params, name, step, dtype):
    for param, array in zip(params, _arrays(step + 1, name, dtype), strict=True):
        param.grad = lib.tensor(array.tolist(), dtype=getattr(lib, dtype))


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return (str(value.dtype), value.tolist()) if hasattr(value, "tolist") else value


def _run(lib, name, options, dtype="float32", reload_at=None):
    params = _params(lib, name, dtype)
    optimizer = getattr(lib.optim, name)(params, **options)
    trail = []
    for step in range(STEPS):
        _give_gradients(lib, params, name, step, dtype)
        optimizer.step()
        trail.append([param.tolist() for param in params])
        if step == reload_at:
            saved = copy.deepcopy(optimizer.state_dict())
            optimizer = getattr(lib.optim, name)(params, **options)
            optimizer.load_state_dict(saved)
    return trail, _plain(optimizer.state_dict()), repr(optimizer)


def _assert_close(ours, theirs, tolerance):
    """The same structure and texts, numbers within the tolerance."""
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for key in ours:
            _assert_close(ours[key], theirs[key], tolerance)
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            _assert_close(mine, other, tolerance)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=tolerance)
    else:
        assert ours == theirs


@pytest.mark.parametrize(("name", "options"), CASES)
def test_same_parameters_and_state(name, options):
    # Muon works in bfloat16: a product rounded the other way shows in the third digit.
    _assert_close(_run(mt, name, options), _run(torch, name, options), 2e-3 if name == "Muon" else 1e-6)


def _flat(nested):
    if isinstance(nested, list):
        return [item for inner in nested for item in _flat(inner)]
    return [nested]


@pytest.mark.parametrize("name", [name for name in OPTIONS if name != "Muon"])
def test_same_in_double(name):
    ours, theirs = _run(mt, name, {}, "float64"), _run(torch, name, {}, "float64")
    np.testing.assert_allclose(_flat(ours[0]), _flat(theirs[0]), rtol=1e-12)


@pytest.mark.parametrize("name", list(OPTIONS))
def test_reloading_changes_nothing(name):
    assert _run(mt, name, {}, reload_at=4) == _run(mt, name, {})


@pytest.mark.parametrize("options", [{}, {"line_search_fn": "strong_wolfe"}, {"lr": 0.5, "history_size": 3}])
def test_lbfgs(options):
    x = np.random.default_rng(0).standard_normal((20, 4))

    def fit(lib):
        inputs = lib.tensor(x.tolist(), dtype=lib.float64)
        weight = lib.nn.Parameter(lib.tensor([0.1, -0.2, 0.3, 0.4], dtype=lib.float64))
        optimizer = lib.optim.LBFGS([weight], **options)

        def closure():
            optimizer.zero_grad()
            loss = ((inputs * weight).sum(1).tanh() - inputs.sum(1)).pow(2).mean()
            loss.backward()
            return loss

        losses = [optimizer.step(closure).item() for _ in range(4)]
        state = optimizer.state_dict()["state"][0]
        return losses, weight.tolist(), list(state), state["n_iter"], state["func_evals"]

    ours, theirs = fit(mt), fit(torch)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-6)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6)
    assert ours[2:] == theirs[2:]


def _p(lib, *shape):
    return lib.nn.Parameter(lib.ones(*(shape or (2, 3))))


def _build(name, **options):
    return lambda lib: getattr(lib.optim, name)([_p(lib)], **options)


def _step_once(name, **options):
    def run(lib):
        param = _p(lib)
        param.grad = lib.ones_like(param)
        getattr(lib.optim, name)([param], **options).step()

    return run


def _duplicates(lib):
    param = _p(lib)
    lib.optim.SGD([param, param])


def _two_groups(lib):
    param = _p(lib)
    lib.optim.SGD([{"params": param}, {"params": param}])


def _load(state):
    return lambda lib: lib.optim.Adam([_p(lib)]).load_state_dict(state)


BAD_OPTIONS = {
    "Adam": [{"lr": -1.0}, {"eps": -1.0}, {"betas": (-1, 0.5)}, {"betas": (0.5, 1.0)}, {"weight_decay": -1.0}],
    "SGD": [{"lr": -1.0}, {"momentum": -1.0}, {"weight_decay": -1.0}, {"nesterov": True}],
    "Adagrad": [{"lr_decay": -1.0}, {"initial_accumulator_value": -1.0}, {"eps": -1.0}],
    "Adadelta": [{"rho": -1.0}],
    "Adamax": [{"betas": (0.9, -1.0)}],
    "ASGD": [{"lr": -1.0}],
    "NAdam": [{"momentum_decay": -1.0}],
    "RAdam": [{"eps": -1.0}],
    "RMSprop": [{"alpha": -1.0}, {"momentum": -1.0}],
    "Rprop": [{"etas": (2.0, 0.5)}],
    "Adafactor": [{"lr": -1.0}, {"beta2_decay": 1.0}, {"d": 0.5}],
    "SparseAdam": [{"lr": -1.0}, {"eps": 0.0}],
    "Muon": [{"momentum": -1.0}, {"weight_decay": -1.0}, {"adjust_lr_fn": "x"}],
    "LBFGS": [{"lr": -1.0}],
}
REFUSALS = {
    "tensor": lambda lib: lib.optim.Adam(_p(lib)),
    "empty": lambda lib: lib.optim.Adam([]),
    "no tensor": lambda lib: lib.optim.Adam([1]),
    "non-leaf": lambda lib: lib.optim.Adam([_p(lib) * 1]),
    "duplicates": _duplicates,
    "two groups": _two_groups,
    "set": lambda lib: lib.optim.Adam([{"params": {_p(lib)}}]),
    "half named": lambda lib: lib.optim.Adam([("a", _p(lib)), _p(lib)]),
    "named group": lambda lib: lib.optim.Adam([{"params": [("a", _p(lib))]}, {"params": [_p(lib)]}]),
    "no dict": lambda lib: lib.optim.Adam([_p(lib)]).add_param_group([1]),
    "mixed": lambda lib: lib.optim.Adam([{"params": [_p(lib)]}, 3]),
    "groups missing": _load({"state": {}, "param_groups": []}),
    "group size": _load({"state": {}, "param_groups": [{"params": [0, 1]}]}),
    "lr of two": lambda lib: lib.optim.Adam([_p(lib)], lr=lib.tensor([1.0, 2.0])),
    "lr foreach": lambda lib: lib.optim.Adam([_p(lib)], lr=lib.tensor(1.0), foreach=True),
    "one beta tensor": lambda lib: lib.optim.Adam([_p(lib)], betas=(lib.tensor(0.9), 0.9)),
    "fused foreach": _build("Adam", fused=True, foreach=True),
    "fused differentiable": _build("SGD", fused=True, differentiable=True),
    "dense": _step_once("SparseAdam"),
    "muon vector": lambda lib: lib.optim.Muon([_p(lib, 3)]),
    "muon steps": _step_once("Muon", ns_steps=100),
    "lbfgs groups": lambda lib: lib.optim.LBFGS([{"params": [_p(lib)]}, {"params": [_p(lib)]}]),
    "no step": lambda lib: lib.optim.Optimizer([_p(lib)], {}).step(),
    **{f"{name} capturable": _step_once(name, capturable=True) for name in ("Adam", "NAdam", "ASGD", "Rprop")},
    **{f"{name} {options}": _build(name, **options) for name, several in BAD_OPTIONS.items() for options in several},
}


def _message(lib, make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            make(lib)
            raised = None
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            raised = (type(error).__name__, str(error))
    return raised, [(w.category.__name__, str(w.message)) for w in caught]


@pytest.mark.parametrize("name", REFUSALS)
def test_errors_and_warnings(name):
    assert _message(mt, REFUSALS[name]) == _message(torch, REFUSALS[name])


@pytest.mark.parametrize("name", list(OPTIONS))
def test_names_and_defaults(name):
    ours, theirs = getattr(mt.optim, name), getattr(torch.optim, name)
    assert (ours.__module__, ours.__qualname__) == (theirs.__module__, theirs.__qualname__)
    assert _plain(ours([_p(mt)]).defaults) == _plain(theirs([_p(torch)]).defaults)
    assert list(ours([_p(mt)]).param_groups[0]) == list(theirs([_p(torch)]).param_groups[0])


def test_hooks_run_in_torchs_order():
    def order(lib):
        seen = []
        param = _p(lib)
        param.grad = lib.ones_like(param)
        optimizer = lib.optim.SGD([param])
        handles = [
            lib.optim.optimizer.register_optimizer_step_pre_hook(lambda *a: seen.append("global pre")),
            lib.optim.optimizer.register_optimizer_step_post_hook(lambda *a: seen.append("global post")),
            optimizer.register_step_pre_hook(lambda *a: seen.append("pre")),
            optimizer.register_step_post_hook(lambda *a: seen.append("post")),
            optimizer.register_state_dict_pre_hook(lambda *a: seen.append("state pre")),
            optimizer.register_state_dict_post_hook(lambda *a: seen.append("state post")),
            optimizer.register_load_state_dict_pre_hook(lambda *a: seen.append("load pre")),
            optimizer.register_load_state_dict_post_hook(lambda *a: seen.append("load post")),
        ]
        optimizer.step()
        optimizer.load_state_dict(optimizer.state_dict())
        for handle in handles:
            handle.remove()
        optimizer.step()
        return seen

    __import__("torch.optim.optimizer")
    assert order(mt) == order(_WithOptimizerModule(torch))


class _WithOptimizerModule:
    """torch deletes the name of its `optim.optimizer` module; this puts it back for the test."""

    def __init__(self, lib):
        self._lib = lib

    def __getattr__(self, name):
        if name != "optim":
            return getattr(self._lib, name)
        return _OptimNames()


class _OptimNames:
    def __getattr__(self, name):
        module = __import__("sys").modules
        return module["torch.optim.optimizer"] if name == "optimizer" else getattr(module["torch.optim"], name)


def test_zero_grad():
    def cleared(lib):
        param = _p(lib)
        optimizer = lib.optim.SGD([param])
        param.grad = lib.ones_like(param)
        optimizer.zero_grad(set_to_none=False)
        first = param.grad.tolist()
        optimizer.zero_grad()
        return first, param.grad

    assert cleared(mt) == cleared(torch)
