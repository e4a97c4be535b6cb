"""The same program run with torch and with ours: the scenarios of a test file, and what a program sees of a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def without_addresses(text: str) -> str:
    """Return a text without what differs from process to process."""
    return _ADDRESS.sub("0x", text)


class Scenarios:
    """The scenarios of a test file, in order; `@scenarios` adds one, `@scenarios.each(...)` one per value.

    A scenario is a function that is run with each side's module.
    """

    def __init__(self) -> None:
        self.params: list[Any] = []

    def __call__(self, scenario: Callable[..., Any]) -> Callable[..., Any]:
        self.params.append(pytest.param(scenario, id=scenario.__name__))
        return scenario

    def each(self, **cases: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Add the scenario once per case, which it gets as last argument."""

        def add(scenario: Callable[..., Any]) -> Callable[..., Any]:
            for name, case in cases.items():
                run = lambda *given, case=case: scenario(*given, case)  # noqa: E731
                self.params.append(pytest.param(run, id=f"{scenario.__name__}-{name}"))
            return scenario

        return add

    def __iter__(self) -> Iterator[Any]:
        return iter(self.params)


def outcome(function: Callable[[], object]) -> tuple[str, str]:
    """The kind and text of what a call gives: a value's repr, or an error's type and message."""
    try:
        text = repr(function())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return type(error).__name__, str(error)
    return "value", without_addresses(text)


def assert_same(ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Both calls give equal reprs, or raise the same error with the same text."""
    mine, expected = outcome(ours), outcome(theirs)
    if mine != expected:
        raise AssertionError(f"\n  ours: {mine}\n torch: {expected}")
