"""When a gradient becomes `.grad` itself, and when it is copied."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_autograd import accumulate
from mindtorch_autograd.node import meta_of


def called(function: Any, *args: Any) -> Any:
    return function(*args)


def called_from_c(function: Any, *args: Any) -> Any:
    """What calls the function keeps its arguments alive, as debuggers that evaluate frames themselves do."""
    return functools.partial(function, *args)()


@pytest.mark.parametrize("call", [called, called_from_c])
def test_memory_that_nobody_else_sees_is_taken(call: Any) -> None:
    leaf = mt.zeros(3, requires_grad=True)
    grads = [mt.ones(3)]
    place = grads[0].data_ptr()
    with mt.no_grad():
        call(accumulate.add_to, leaf, meta_of(leaf), grads)
    assert leaf.grad.data_ptr() == place
    assert grads == []


@pytest.mark.parametrize("call", [called, called_from_c])
@pytest.mark.parametrize("part", [lambda grad: grad, lambda grad: grad[:]], ids=["itself", "view"])
def test_memory_that_somebody_sees_is_copied(call: Any, part: Any) -> None:
    leaf = mt.zeros(3, requires_grad=True)
    held = mt.ones(3)
    with mt.no_grad():
        call(accumulate.add_to, leaf, meta_of(leaf), [part(held)])
    assert leaf.grad.data_ptr() != held.data_ptr()
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]
