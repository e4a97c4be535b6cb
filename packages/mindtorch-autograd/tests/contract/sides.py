"""Scenarios: one function run with our module and with torch, whose plain results must be equal.

A scenario takes the module, `T`, and returns anything: tensors, nodes, errors and containers of them are turned into
plain data by `plain`. `caught` runs a call and gives the error's type and text, or the plain value.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing.scenarios import Scenarios as Scenarios

torch = pytest.importorskip("torch", reason="oracle")

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def plain(value: Any) -> Any:
    """Return `value` as comparable plain data."""
    if isinstance(value, (mt.Tensor, torch.Tensor)):
        kind = type(value).__name__
        return (kind, str(value.dtype), tuple(value.shape), rounded(value.detach().tolist()), value.requires_grad)
    if isinstance(value, BaseException):
        return error_text(value)
    if hasattr(value, "next_functions"):
        return f"<{value.name()}>"
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (float, complex)):
        return rounded(value)
    if isinstance(value, str):
        return _ADDRESS.sub("0x", value)
    if isinstance(value, (int, bytes, type(None))):
        return value
    if isinstance(value, (mt.dtype, torch.dtype, mt.device, torch.device)):
        return str(value)
    return f"{type(value).__name__}: {_ADDRESS.sub('0x', str(value))}"


def rounded(value: Any) -> Any:
    """Return numbers to five digits, in nested lists too."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, complex):
        return f"{value.real + 0.0:.4g}{value.imag + 0.0:+.4g}j"
    return f"{value + 0.0:.5g}" if isinstance(value, float) else value


def error_text(error: BaseException) -> tuple[str, str]:
    """Return an error's type and text, addresses left out."""
    return type(error).__name__, _ADDRESS.sub("0x", str(error))


def caught(call: Callable[[], Any]) -> Any:
    """Return what `call` returns, or the type and text of what it raises."""
    try:
        return plain(call())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return error_text(error)


def graph(node: Any) -> list[Any]:
    """Return a graph as rows (name, next nodes by row number and output number, rank of the sequence number)."""
    rows: list[Any] = []
    numbers = {None: None}
    order = [node]
    numbers[node] = 0
    for one in order:
        for child, _ in one.next_functions:
            if child not in numbers:
                numbers[child] = len(order)
                order.append(child)
    ranks = {one: rank for rank, one in enumerate(sorted(order, key=lambda one: one._sequence_nr()))}
    for one in order:
        rank = None if one.name().endswith("AccumulateGrad") else ranks[one]
        rows.append((one.name(), [(numbers[child], number) for child, number in one.next_functions], rank))
    return rows


def assert_same(scenario: Callable[[Any], Any]) -> None:
    """Run the scenario on both sides and compare."""
    expected, ours = caught(lambda: scenario(torch)), caught(lambda: scenario(mt))
    if ours != expected:
        raise AssertionError(f"\n  ours: {ours}\n torch: {expected}" + _first_difference(ours, expected))


def assert_same_results(scenario: Callable[[Any], Any]) -> None:
    """Compare as `assert_same`, whatever both sides warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(scenario)


def _first_difference(ours: Any, theirs: Any, path: str = "") -> str:
    if isinstance(ours, (list, tuple)) and isinstance(theirs, (list, tuple)) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != other:
                return _first_difference(one, other, f"{path}[{index}]")
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        for key in ours:
            if ours[key] != theirs[key]:
                return _first_difference(ours[key], theirs[key], f"{path}[{key!r}]")
    return f"\n first difference at {path}:\n   ours: {ours}\n  torch: {theirs}"
