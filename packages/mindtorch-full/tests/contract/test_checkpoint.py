"""Recomputation in both modes: values, gradients, random streams, texts and warnings equal torch's."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

VALUES = [0.3, -0.7, 1.1]
MODES = pytest.mark.parametrize("reentrant", [True, False])


def _leaf(lib, values=VALUES):
    return lib.tensor(values, requires_grad=True)


def _function(value):
    return value.sin().exp()


def _checkpoint(lib, *args, **kwargs):
    return lib.utils.checkpoint.checkpoint(*args, **kwargs)


def _both(call):
    ours, theirs = _outcome(mt, call), _outcome(torch, call)
    if isinstance(ours[0], list) and isinstance(theirs[0], list):
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-5, atol=1e-6)
        assert ours[1] == theirs[1]
    else:
        assert ours == theirs


def _outcome(lib, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(lib)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            result = f"{type(error).__name__}: {error}"
    return result, [(w.category.__name__, str(w.message)) for w in caught]


@MODES
def test_gradients(reentrant):
    def call(lib):
        leaf = _leaf(lib)
        _checkpoint(lib, _function, leaf, use_reentrant=reentrant).sum().backward()
        return leaf.grad.tolist()

    _both(call)


@MODES
def test_several_inputs_and_outputs(reentrant):
    def call(lib):
        a, b = _leaf(lib), _leaf(lib, [1.0, 2.0, 3.0])
        out = _checkpoint(lib, lambda p, q, text: (p * q, text, p + 1), a, b, "text", use_reentrant=reentrant)
        assert out[1] == "text"
        (out[0].sum() + out[2].sum()).backward()
        return [a.grad.tolist(), b.grad.tolist()]

    _both(call)


@MODES
@pytest.mark.parametrize("preserve", [True, False])
def test_random_stream(reentrant, preserve):
    def call(lib):
        lib.manual_seed(0)
        leaf = lib.ones(16, requires_grad=True)
        out = _checkpoint(
            lib,
            lambda value: lib.nn.functional.dropout(value, 0.5),
            leaf,
            use_reentrant=reentrant,
            preserve_rng_state=preserve,
        )
        out.sum().backward()
        return [*out.tolist(), *leaf.grad.tolist(), lib.rand(1).item()]

    _both(call)


@MODES
def test_module_with_parameters(reentrant):
    def call(lib):
        weight, leaf = _leaf(lib, [1.0, 2.0, 3.0]), _leaf(lib)
        out = _checkpoint(lib, lambda value: (value * weight).tanh(), leaf, use_reentrant=reentrant)
        out.pow(2).sum().backward()
        return [weight.grad.tolist(), leaf.grad.tolist()]

    _both(call)


def test_nested():
    def call(lib):
        leaf = _leaf(lib)

        def outer(value):
            return _checkpoint(lib, _function, value, use_reentrant=False).sin()

        _checkpoint(lib, outer, leaf, use_reentrant=False).sum().backward()
        return leaf.grad.tolist()

    _both(call)


def test_gradients_of_gradients():
    def call(lib):
        leaf = _leaf(lib)
        out = _checkpoint(lib, _function, leaf, use_reentrant=False)
        (grad,) = lib.autograd.grad(out.sum(), leaf, create_graph=True)
        grad.sum().backward()
        return leaf.grad.tolist()

    _both(call)


def test_inside_saved_tensor_hooks():
    def call(lib):
        leaf = _leaf(lib)
        with lib.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t):
            _checkpoint(lib, _function, leaf, use_reentrant=False).sum().backward()
        return leaf.grad.tolist()

    _both(call)


def test_twice_through_a_kept_graph():
    def call(lib):
        leaf = _leaf(lib)
        total = _checkpoint(lib, _function, leaf, use_reentrant=False).sum()
        total.backward(retain_graph=True)
        total.backward()
        return leaf.grad.tolist()

    _both(call)


def test_unused_output():
    def call(lib):
        leaf = _leaf(lib)
        _checkpoint(lib, lambda v: (v.sin(), v.cos()), leaf, use_reentrant=False)[1].sum().backward()
        return leaf.grad.tolist()

    _both(call)


@pytest.mark.parametrize("early", [True, False])
def test_early_stop(early):
    def call(lib):
        seen = []

        def function(value):
            first = value.sin()
            seen.append(1)
            second = first.clone()
            seen.append(2)
            return second

        with lib.utils.checkpoint.set_checkpoint_early_stop(early):
            out = _checkpoint(lib, function, _leaf(lib), use_reentrant=False)
        out.sum().backward()
        return seen

    _both(call)


def test_contexts():
    def call(lib):
        log = []

        @contextlib.contextmanager
        def noted(text):
            log.append(text)
            yield

        out = _checkpoint(
            lib,
            _function,
            _leaf(lib),
            use_reentrant=False,
            context_fn=lambda: (noted("forward"), noted("again")),
        )
        out.sum().backward()
        return str(log)

    _both(call)


def test_sequential():
    def call(lib):
        leaf = _leaf(lib)
        steps = [lib.sin, lib.exp, lib.tanh]
        lib.utils.checkpoint.checkpoint_sequential(steps, 2, leaf, use_reentrant=False).sum().backward()
        return leaf.grad.tolist()

    _both(call)


def _changing(first, second):
    """A function that behaves differently when it runs again."""

    def call(lib):
        runs = []

        def function(value):
            runs.append(None)
            return first(value) if len(runs) == 1 else second(value)

        _checkpoint(lib, function, _leaf(lib), use_reentrant=False).sum().backward()

    return call


def _twice(lib):
    total = _checkpoint(lib, _function, _leaf(lib), use_reentrant=False).sum()
    total.backward()
    total.backward()


def _partial(lib):
    leaf = _leaf(lib)
    lib.autograd.grad(_checkpoint(lib, _function, leaf, use_reentrant=True).sum(), leaf)


def _raising(lib):
    runs = []

    def function(value):
        runs.append(None)
        if len(runs) == 2:
            raise KeyError("boom")
        return value.sin()

    _checkpoint(lib, function, _leaf(lib), use_reentrant=False).sum().backward()


REFUSALS = {
    "no mode": lambda lib: _checkpoint(lib, _function, _leaf(lib)).requires_grad,
    "keyword": lambda lib: _checkpoint(lib, _function, a=_leaf(lib), use_reentrant=True),
    "contexts": lambda lib: _checkpoint(lib, _function, _leaf(lib), use_reentrant=True, context_fn=lambda: 1),
    "debug": lambda lib: _checkpoint(lib, _function, _leaf(lib), use_reentrant=True, debug=True),
    "check": lambda lib: _checkpoint(lib, _function, _leaf(lib), use_reentrant=False, determinism_check="x"),
    "no gradient": lambda lib: _checkpoint(lib, _function, lib.ones(3), use_reentrant=True).requires_grad,
    "fewer tensors": _changing(lambda v: v.sin().exp().cos() * v.sin(), _function),
    "other shape": _changing(lambda v: v.sin(), lambda v: v[:2].sin()),
    "freed": _twice,
    "partial backward": _partial,
    "detached": lambda lib: _checkpoint(lib, lambda v: v.detach(), _leaf(lib), use_reentrant=True).sum().backward(),
    "raises again": _raising,
    "detach_variable": lambda lib: lib.utils.checkpoint.detach_variable(3),
    "sequential mode": lambda lib: lib.utils.checkpoint.checkpoint_sequential([lib.sin], 1, _leaf(lib)).requires_grad,
    "sequential keyword": lambda lib: lib.utils.checkpoint.checkpoint_sequential(
        [lib.sin], 1, _leaf(lib), use_reentrant=True, foo=1
    ),
    "policy": lambda lib: lib.utils.checkpoint.create_selective_checkpoint_contexts(3),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_errors_and_warnings(name):
    _both(REFUSALS[name])


def test_names():
    ours, theirs = mt.utils.checkpoint, torch.utils.checkpoint
    for name in theirs.__all__:
        assert hasattr(ours, name), name
    assert ours.CheckpointError.__module__ == theirs.CheckpointError.__module__
    out = _checkpoint(mt, _function, _leaf(mt), use_reentrant=True)
    assert out.grad_fn.name() == "CheckpointFunctionBackward"
