"""`torch.utils.checkpoint` in both modes: gradients, random state, recomputation, errors, what is kept."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same_results, caught

scenarios = Scenarios()
MODES = {"reentrant": True, "replayed": False}


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def checkpoint(T: Any, *args: Any, **kwargs: Any) -> Any:
    import importlib

    return importlib.import_module(f"{T.__name__}.utils.checkpoint").checkpoint(*args, **kwargs)


def block(T: Any) -> Any:
    T.manual_seed(0)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 3)).double()


def values(T: Any, *shape: int) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    return (T.arange(count, dtype=T.float64) * 0.25 - 1).reshape(shape)


@scenarios.each(**MODES)
def gradients(T, case):
    net = block(T)
    x = values(T, 2, 3).requires_grad_()
    out = checkpoint(T, net, x, use_reentrant=case)
    out.pow(2).sum().backward()
    return out, x.grad, [p.grad for p in net.parameters()]


@scenarios.each(**MODES)
def calls_of_forward(T, case):
    log = []

    def run(x):
        log.append(T.is_grad_enabled())
        return x.exp()

    x = values(T, 3).requires_grad_()
    out = checkpoint(T, run, x, use_reentrant=case)
    before = len(log)
    out.sum().backward()
    return before, log, x.grad


@scenarios.each(**MODES)
def dropout_is_replayed(T, case):
    x = T.ones(50, requires_grad=True)
    T.manual_seed(3)
    out = checkpoint(T, lambda x: T.nn.functional.dropout(x, 0.5) * 2, x, use_reentrant=case)
    after = T.rand(2)
    out.sum().backward()
    return bool((x.grad == out.detach()).all()), out, after, T.rand(2)


@scenarios.each(**MODES)
def dropout_without_preserving(T, case):
    x = T.ones(50, requires_grad=True)
    T.manual_seed(3)
    out = checkpoint(T, lambda x: T.nn.functional.dropout(x, 0.5), x, use_reentrant=case, preserve_rng_state=False)
    out.sum().backward()
    return bool((x.grad == out.detach()).all())


@scenarios.each(**MODES)
def no_input_requires_grad(T, case):
    net = block(T)
    out = checkpoint(T, net, values(T, 2, 3), use_reentrant=case)
    return out.requires_grad, caught(lambda: out.sum().backward()), [p.grad is None for p in net.parameters()]


@scenarios.each(**MODES)
def several_inputs_and_outputs(T, case):
    def run(x, n, y, flag=None):
        return x * n + y, (x * y).sum(), 3 if case is False else x.sum()

    x, y = values(T, 3).requires_grad_(), values(T, 3).requires_grad_()
    a, b, _ = checkpoint(T, run, x, 2, y, use_reentrant=case)
    (a.sum() + b).backward()
    return a, b, x.grad, y.grad


@scenarios.each(**MODES)
def keywords(T, case):
    x = values(T, 3).requires_grad_()

    def go():
        out = checkpoint(T, lambda x, n=1: x * n, x, n=4, use_reentrant=case)
        out.sum().backward()
        return x.grad

    return caught(go)


@scenarios.each(**MODES)
def nested(T, case):
    x = values(T, 3).requires_grad_()

    def inner(x):
        return x.sin()

    def outer(x):
        return checkpoint(T, inner, x * 2, use_reentrant=case).exp()

    out = checkpoint(T, outer, x, use_reentrant=case)
    out.sum().backward()
    return x.grad


@scenarios.each(**MODES)
def autograd_grad(T, case):
    x = values(T, 3).requires_grad_()
    out = checkpoint(T, lambda x: x.exp(), x, use_reentrant=case)
    return caught(lambda: T.autograd.grad(out.sum(), x))


@scenarios.each(**MODES)
def twice_backward(T, case):
    x = values(T, 3).requires_grad_()
    out = checkpoint(T, lambda x: x.exp().sin(), x, use_reentrant=case)
    out.sum().backward(retain_graph=True)
    second = caught(lambda: out.sum().backward())
    third = caught(lambda: out.sum().backward())
    return second, third[0] if isinstance(third, tuple) else third, x.grad


@scenarios
def double_backward(T):
    x = values(T, 3).requires_grad_()
    out = checkpoint(T, lambda x: x**3, x, use_reentrant=False)
    (g,) = T.autograd.grad(out.sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    return g, h


@scenarios
def different_recomputation(T):
    calls = []

    def run(x):
        calls.append(1)
        return x.exp() if len(calls) == 1 else x.exp().sin()

    def shapes(x):
        calls.append(1)
        return (x[:2] if len(calls) % 2 else x).exp().sum()

    x = values(T, 3).requires_grad_()
    out = checkpoint(T, run, x, use_reentrant=False)
    calls_before = len(calls)
    first = caught(lambda: out.sum().backward())
    calls.clear()
    other = checkpoint(T, shapes, x, use_reentrant=False)
    second = caught(lambda: other.sum().backward())
    return calls_before, first, second


@scenarios
def inside_no_grad_and_modes(T):
    x = values(T, 3).requires_grad_()
    with T.no_grad():
        quiet = [checkpoint(T, lambda x: x.exp(), x, use_reentrant=mode).requires_grad for mode in (True, False)]
    return quiet


@scenarios
def early_stop(T):
    log = []

    def run(x):
        y = x.exp()
        log.append("middle")
        z = y + 1
        log.append("end")
        return z

    x = values(T, 3).requires_grad_()
    checkpoint(T, run, x, use_reentrant=False).sum().backward()
    return log


@scenarios
def sequential(T):
    import importlib

    module = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    net = block(T)
    x = values(T, 2, 3).requires_grad_()
    out = module.checkpoint_sequential(net, 2, x, use_reentrant=False)
    out.sum().backward()
    return out, x.grad, [p.grad for p in net.parameters()]


@scenarios
def missing_flag_warns(T):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        checkpoint(T, lambda x: x * 2, values(T, 2).requires_grad_())
    return [str(one.message)[:60] for one in seen]
