"""`Variable` and `volatile`, as programs of torch 0.3 write them: values, errors and warnings are torch's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

CALLS: dict[str, Callable[[Any], Any]] = {
    "volatile": lambda T: T.autograd.Variable(T.ones(2), volatile=True).requires_grad,
    "volatile by place": lambda T: T.autograd.Variable(T.ones(2), False, True).tolist(),
    "not volatile": lambda T: T.autograd.Variable(T.ones(2), volatile=0).tolist(),
    "volatile with gradients": lambda T: T.autograd.Variable(T.ones(2), volatile=True, requires_grad=True),
    "None": lambda T: T.autograd.Variable(T.ones(2), volatile=None),
    "number": lambda T: T.autograd.Variable(3),
    "whole numbers": lambda T: T.autograd.Variable(T.arange(2), True),
    "read": lambda T: T.ones(2).volatile,
    "write": lambda T: setattr(T.ones(2), "volatile", True),
}


def outcome(call: Callable[[Any], Any], module: Any) -> Any:
    """Return what a call gives or raises, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = call(module)
        except (RuntimeError, TypeError, ValueError) as error:
            result = (type(error).__name__, str(error))
    return result, [(one.category.__name__, str(one.message), one.filename) for one in caught]


@pytest.mark.parametrize("name", CALLS)
def test_same_as_torch(name: str) -> None:
    assert outcome(CALLS[name], mt) == outcome(CALLS[name], torch)
