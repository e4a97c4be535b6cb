"""`torch._functorch.make_functional` and the deprecated names that the package `functorch` offers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import mindtorch as mt
import mindtorch._dynamo.utils
import mindtorch._functorch.vmap
from mindtorch import _functorch_package as ours_functorch
from mindtorch._functorch import make_functional as ours_functional
from mindtorch.func import vmap as ours_vmap

torch = pytest.importorskip("torch", reason="oracle")
functorch = pytest.importorskip("functorch", reason="oracle")
dynamo = pytest.importorskip("torch._dynamo.utils", reason="oracle")
functional = pytest.importorskip("torch._functorch.make_functional", reason="oracle")

SIDES = ((mt, ours_functional), (torch, functional))


def _linear(lib: Any) -> Any:
    layer = lib.nn.Linear(2, 1)
    with lib.no_grad():
        layer.weight.copy_(lib.tensor([[1.0, -2.0]]))
        layer.bias.fill_(0.5)
    return layer


def _normed(lib: Any) -> Any:
    return lib.nn.Sequential(_linear(lib), lib.nn.BatchNorm1d(1))


def _tied(lib: Any) -> Any:
    model = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Linear(2, 2))
    with lib.no_grad():
        for one in model.parameters():
            one.fill_(0.25)
    model[1].weight = model[0].weight
    return model


def _function(lib: Any, names: Any) -> Any:
    model = _linear(lib)
    function, params = names.make_functional(model)
    x = lib.tensor([[1.0, 3.0]])
    (grad,) = lib.autograd.grad(function(params, x).sum(), params[:1])
    left = function.stateless_model.weight
    return (
        *(type(function).__name__, function.param_names, function.names_map, left.device.type, left.requires_grad),
        *(params[0] is model.weight, [one.requires_grad for one in params], [one.tolist() for one in params]),
        *(function(params, x).tolist(), function([2 * one for one in params], input=x).tolist(), grad.tolist()),
        sorted(dict(function.named_parameters())),
    )


def _with_buffers(lib: Any, names: Any) -> Any:
    function, params, buffers = names.make_functional_with_buffers(_normed(lib), disable_autograd_tracking=True)
    out = function(params, buffers, lib.tensor([[1.0, 3.0], [2.0, 1.0]]))
    return (
        *(function.param_names, function.buffer_names, function.all_names_map, [one.requires_grad for one in params]),
        *(out.round(decimals=3).tolist(), buffers[0].tolist(), buffers[2].item()),
        {name: one.device.type for name, one in function.stateless_model.named_buffers()},
    )


def _shared(lib: Any, names: Any) -> Any:
    function, params = names.make_functional(_tied(lib))
    return function.names_map, len(params), function(params, lib.ones(1, 2)).tolist()


def _ensemble(lib: Any, names: Any) -> Any:
    function, params, buffers = names.combine_state_for_ensemble([_normed(lib).eval(), _normed(lib).eval()])
    out = (lib.func.vmap if lib is torch else ours_vmap)(function, (0, 0, None))(params, buffers, lib.ones(3, 2))
    shapes = [[list(one.shape), one.requires_grad, one.is_leaf] for one in (*params, *buffers)]
    return shapes, out.round(decimals=4).tolist()


def _state(lib: Any, names: Any) -> Any:
    model = _normed(lib)
    weights, weight_names, _ = names.extract_weights(model)
    buffers, buffer_names, _ = names.extract_buffers(model)
    empty = {one.device.type for one in (*model.parameters(), *model.buffers())}
    loaded = names.load_state(model, weights, weight_names, buffers, buffer_names)
    return empty, loaded is model, model[0].weight.tolist(), model[1].running_var.tolist(), weight_names, buffer_names


SCENARIOS: dict[str, Callable[[Any, Any], Any]] = {
    "a function of parameters": _function,
    "and of buffers": _with_buffers,
    "shared parameters": _shared,
    "an ensemble": _ensemble,
    "state out and in": _state,
    "buffers are refused": lambda lib, names: names.make_functional(_normed(lib)),
    "no models": lambda lib, names: names.combine_state_for_ensemble([]),
    "models of two kinds": lambda lib, names: names.combine_state_for_ensemble([_linear(lib), _normed(lib)]),
    "models in two modes": lambda lib, names: names.combine_state_for_ensemble([_linear(lib), _linear(lib).eval()]),
    "names without a tensor": lambda lib, names: names.load_state(_linear(lib), (), ("weight",)),
    "names that are not there": lambda lib, names: names.create_names_map({"a": lib.ones(1)}, {"b": lib.ones(1)}),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_former_functions_of_modules(name: str) -> None:
    def run(side: tuple[Any, Any]) -> Any:
        try:
            return SCENARIOS[name](*side)
        except (RuntimeError, AssertionError) as error:
            return type(error).__name__, str(error)

    ours, theirs = (run(side) for side in SIDES)
    assert ours == theirs


@pytest.mark.parametrize("name", ["vmap", "grad", "jacrev", "jacfwd", "hessian"])
def test_functions_of_the_package_warn(name: str) -> None:
    def run(package: Any, lib: Any) -> Any:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            value = getattr(package, name)(lambda x: x.square().sum())(lib.ones(2, 2))
        said = [(str(one.message), one.category, one.filename) for one in seen if one.category is FutureWarning]
        return value.tolist(), said, getattr(package, name).__module__

    assert run(ours_functorch, mt) == run(functorch, torch)


def test_names_of_the_package() -> None:
    # Modules below it, as `functorch.compile`, are attributes once anybody has imported them.
    offered = {n for n, value in vars(functorch).items() if not n.startswith("_") and not isinstance(value, ModuleType)}
    assert offered <= set(vars(ours_functorch))
    with pytest.raises(AttributeError, match="module 'functorch' has no attribute 'none'"):
        ours_functorch.none


class _Boxed:
    """A container that only replaced steps of `vmap` know."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def _replaced(lib: Any, steps: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    names = ("_process_batched_inputs", "_create_batched_inputs", "_unwrap_batched")
    process, create, unwrap = (getattr(steps, name) for name in names)
    called = []

    def opened(in_dims: Any, args: Any, func: Any) -> Any:
        called.append("opened")
        return process(in_dims, tuple(one.tensor for one in args), func)

    def made(dims: Any, flat: Any, level: int, spec: Any) -> Any:
        called.append((dims, [list(one.shape) for one in flat], level))
        return tuple(_Boxed(one) for one in create(dims, flat, level, spec))

    def closed(outputs: Any, out_dims: Any, level: int, size: int, func: Any) -> Any:
        called.append((out_dims, level, size))
        return _Boxed(unwrap(outputs.tensor, out_dims, level, size, func))

    for name, step in zip(names, (opened, made, closed), strict=True):
        monkeypatch.setattr(steps, name, step)
    found = lib.vmap(lambda one: _Boxed(one.tensor.sum() * 2))(_Boxed(lib.arange(6.0).view(2, 3)))
    return found.tensor.tolist(), called


def test_vmap_calls_the_steps_that_libraries_replace(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = _replaced(mt, mt._functorch.vmap, monkeypatch), _replaced(torch, torch._functorch.vmap, monkeypatch)
    assert ours == theirs


def _warned_once(names: Any, name: str) -> list[Any]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for text in (name, name, f"{name} again"):
            names.warn_once(text)
    return [(str(one.message), one.category, one.filename) for one in seen]


def test_a_text_is_warned_of_once() -> None:
    assert _warned_once(mt._dynamo.utils, "read") == _warned_once(dynamo, "read")


def test_pairs_of_laws_have_a_table() -> None:
    for lib in (mt, torch):
        kl, normal = lib.distributions.kl, lib.distributions.Normal
        assert callable(kl._KL_REGISTRY[normal, normal])
        kl.kl_divergence(normal(0.0, 1.0), normal(0.0, 1.0))
        assert kl._KL_MEMOIZE[normal, normal] is kl._KL_REGISTRY[normal, normal]
