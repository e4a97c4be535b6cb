"""One expression, evaluated with torch and with us: equal results, or equal errors."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value
from mindtorch_testing.compare import call_for_error, error_text

torch = pytest.importorskip("torch", reason="oracle")

INPUTS = """
f = t.tensor([[1.5, -2.0, 0.0], [float("nan"), 4.0, float("inf")]])
v = t.tensor([3.0, 1.0, 2.0, 1.0])
z = t.tensor(2.5)
e = t.empty(0)
w = t.empty(2, 0)
i = t.tensor([[3, 1, 2], [0, -5, 7]])
b = t.tensor([True, False, True])
c = t.tensor([1 + 2j, -3j, 0.5 + 0j])
h = t.tensor([0.1, 1e-3, 200.0]).to(t.bfloat16)
n = t.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
"""
"""What the names in expressions stand for; `t` is the library."""


def evaluate(expression: str, library: ModuleType) -> Any:
    """Return the value of `expression` in `library`."""
    scope: dict[str, Any] = {"t": library}
    exec(INPUTS, scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, scope)


def agrees(expression: str) -> None:
    """Assert that both libraries give the same value, or raise the same error with the same text."""
    expected = call_for_error(lambda: evaluate(expression, torch))
    if expected is None:
        assert_same_value(lambda: evaluate(expression, mt), lambda: evaluate(expression, torch))
        return
    found = call_for_error(lambda: evaluate(expression, mt))
    assert found is not None, f"no error where torch raises {expected!r}"
    assert type(found).__name__ == type(expected).__name__
    text, wanted = error_text(found), error_text(expected)
    assert text == wanted
