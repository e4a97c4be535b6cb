"""Gradients of activations that overwrote their input, and of what batched gradients leave, against torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

ACTIVATIONS: list[Callable[[Any, Any], Any]] = [
    lambda m, x: m.nn.functional.elu_(x),
    lambda m, x: m.nn.functional.elu_(x, 2.0),
    lambda m, x: m.celu_(x, 2.0),
    lambda m, x: m.selu_(x),
    lambda m, x: m.nn.functional.leaky_relu_(x, 0.2),
    lambda m, x: m.nn.functional.relu6(x, inplace=True),
    lambda m, x: m.nn.functional.hardtanh_(x),
]


def _overwritten(m: Any, activation: Callable[[Any, Any], Any]) -> Any:
    x = m.tensor([-1.0, 2.0, -0.5, 7.0], dtype=m.float64, requires_grad=True)
    (grad,) = m.autograd.grad(activation(m, x.clone()).sum(), x, create_graph=True)
    again = m.autograd.grad(grad.sum(), x)[0] if grad.requires_grad else m.zeros(1)
    return m.cat([grad.detach(), again])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_result_tells_the_gradient(activation: Callable[[Any, Any], Any]) -> None:
    assert_same_value(lambda: _overwritten(mt, activation), lambda: _overwritten(torch, activation))


def _saved(m: Any) -> Any:
    x = m.tensor([-1.0, 2.0], requires_grad=True).clone()
    node = m.nn.functional.elu_(x).grad_fn
    return node.name(), node._saved_result.tolist()


def test_the_node_keeps_the_result() -> None:
    assert _saved(mt) == _saved(torch)


@pytest.mark.parametrize("name", ["elu_", "leaky_relu_"])
def test_a_negative_slope_hides_the_input(name: str) -> None:
    def fail(m: Any) -> None:
        x = m.tensor([-1.0, 2.0], requires_grad=True)
        getattr(m.nn.functional, name)(x.clone(), -1.0).sum().backward()

    assert_torch_error(lambda: fail(mt), lambda: fail(torch))


def test_a_retained_gradient_of_a_closed_batch_is_replaced() -> None:
    x = mt.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3
    mt.autograd.grad(z, x, mt.eye(3), is_grads_batched=True, retain_graph=True)
    z.backward(mt.ones(3))
    assert y.grad is not None
    assert y.grad.tolist() == [3.0, 3.0, 3.0]


def _rows_copied(m: Any) -> Any:
    y, s = m.zeros(3, requires_grad=True), m.ones(1, requires_grad=True)
    copied = y.clone().index_copy(0, m.tensor(1), s)
    return m.cat(m.autograd.grad(copied, (y, s), m.eye(3), is_grads_batched=True), 1)


def test_batched_gradients_of_a_row_copied_to_a_position_without_dimension() -> None:
    assert_same_value(lambda: _rows_copied(mt), lambda: _rows_copied(torch))
