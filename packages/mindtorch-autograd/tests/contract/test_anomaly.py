"""Anomaly mode: what it says, where the failing op was called, which outer pass induced it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *values: float) -> Any:
    return T.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


def told(call: Any) -> Any:
    """The outcome of a call and what it warned of: the head of each text, and the lines of this file in it."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        outcome = caught(call)
    texts = []
    for one in found:
        text = str(one.message).partition(" (Triggered")[0]
        head = text.strip("\n").partition("\n")[0]
        here = [line.strip() for line in text.splitlines() if "test_anomaly.py" in line]
        texts.append((one.category.__name__, head, here[-1:], text.rstrip().splitlines()[-1]))
    return outcome, texts


@scenarios
def nan(T):
    def run():
        with T.autograd.detect_anomaly():
            y = T.sqrt(leaf(T, -1.0))
            (y * 0).sum().backward()

    return told(run)


@scenarios
def nan_recorded_without(T):
    y = T.sqrt(leaf(T, -1.0))

    def run():
        with T.autograd.detect_anomaly():
            (y * 0).sum().backward()

    return told(run)


@scenarios
def not_checked(T):
    x = leaf(T, -1.0)

    def run():
        with T.autograd.detect_anomaly(check_nan=False):
            (T.sqrt(x) * 0).sum().backward()

    return told(run), x.grad


@scenarios
def induced(T):
    def run():
        with T.autograd.set_detect_anomaly(True):
            x = leaf(T, 0.0)
            y = x * 2
            (first,) = T.autograd.grad(T.sqrt(y).sum(), x, create_graph=True)
            (first * 0).sum().backward()

    outcome, texts = told(run)
    return outcome, [(kind, head, line) for kind, head, line, _ in texts]


@scenarios
def of_a_function(T):
    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("inside")

    def run():
        with T.autograd.set_detect_anomaly(True):
            Fails.apply(leaf(T)).sum().backward()

    outcome, texts = told(run)
    return outcome, [(kind, head, line) for kind, head, line, _ in texts]


@scenarios
def written_after_saving(T):
    def run():
        with T.autograd.set_detect_anomaly(True):
            y = leaf(T).exp()
            y.add_(1)
            y.sum().backward()

    return told(run)


@scenarios
def switches(T):
    found = [(T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled())]
    with T.autograd.set_detect_anomaly(True, check_nan=False):
        found.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
        with T.autograd.set_detect_anomaly(False):
            found.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    found.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    return found


@scenarios
def metadata_of_nodes(T):
    with T.autograd.set_detect_anomaly(True):
        node = leaf(T).exp().grad_fn
    return sorted(node.metadata), "exp()" in "".join(node.metadata["traceback_"])
