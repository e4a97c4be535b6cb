"""Scenarios: one function run with our module and with torch, whose outcomes must be equal.

A scenario takes the module, `T`, and the namespace it may define operators in, which is new for every run. Places of
source files, lists of backends with their files and addresses are no part of an outcome.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from mindtorch_testing.scenarios import Scenarios as Scenarios

torch = pytest.importorskip("torch", reason="oracle")
mt = pytest.importorskip("mindtorch", reason="the assembled surface")

_NUMBERS = itertools.count()
_LEFT_OUT = (
    (re.compile(r"0x[0-9a-f]+"), "0x"),
    (re.compile(r"<module .*?>"), "<module>"),
    (re.compile(r"(only available for these backends:|Available functions are) .*", re.S), r"\1"),
    (re.compile(r" \(Triggered internally at .*?\)"), ""),
    (re.compile(r"(previous kernel: ).*"), r"\1"),
    (re.compile(r"[\w/.<>+-]*\.(py|cpp):\d+|mindtorch_dispatch/ops"), "PLACE"),
    (re.compile(r"The valid types are: .*? Got func", re.S), "The valid types are: Got func"),
    (re.compile(r"lib_\d+_"), "lib_"),
)
_ONCE = "Warning only once for all operators"
"""Told for the first overridden kernel of a process, which depends on what ran before."""


def shown(text: str) -> str:
    """Return a text without what differs between two runs."""
    for pattern, put in _LEFT_OUT:
        text = pattern.sub(put, text)
    return text


def plain(value: Any) -> Any:
    """Return `value` as comparable plain data."""
    if isinstance(value, (mt.Tensor, torch.Tensor)):
        data = "meta" if value.device.type == "meta" else [f"{v:.5g}" for v in value.detach().flatten().tolist()]
        node = shown(value.grad_fn.name()).rpartition("::")[2] if value.grad_fn is not None else None
        return (str(value.dtype), tuple(value.shape), data, value.requires_grad, node)
    if isinstance(value, BaseException):
        return type(value).__name__, shown(str(value))
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (int, float, bytes, type(None))):
        return value
    return shown(value if isinstance(value, str) else str(value))


def caught(call: Callable[[], Any]) -> Any:
    """Return what `call` returns with the warnings it gives, or the type and text of what it raises."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            outcome = plain(call())
        except Exception as error:  # noqa: BLE001 (any error is an outcome)
            outcome = plain(error)
    told = [(one.category.__name__, shown(str(one.message))) for one in given if not str(one.message).startswith(_ONCE)]
    return (outcome, told) if told else outcome


def assert_same(scenario: Callable[..., Any]) -> None:
    """Run the scenario on both sides and compare."""
    namespace = f"lib_{next(_NUMBERS)}_"
    expected, ours = caught(lambda: scenario(torch, namespace)), caught(lambda: scenario(mt, namespace))
    assert ours == expected, f"\n  ours: {ours}\n torch: {expected}"
