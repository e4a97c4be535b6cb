"""Parameters of a test that are functions: each is run by our module and by torch, and the outcomes are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


class Scenarios(list[Any]):
    """The scenarios of a test file, in order, as parameters of pytest.

    `@scenarios` adds a function, `@scenarios.each(name=case)` adds it once per case, which it gets as its last argument.
    """

    def __call__(self, scenario: Callable[..., Any]) -> Callable[..., Any]:
        """Add a scenario under its name."""
        self.append(pytest.param(scenario, id=scenario.__name__))
        return scenario

    def each(self, **cases: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds a scenario once per case."""

        def add(scenario: Callable[..., Any]) -> Callable[..., Any]:
            for name, case in cases.items():
                run = lambda *given, case=case: scenario(*given, case)  # noqa: E731
                self.append(pytest.param(run, id=f"{scenario.__name__}-{name}"))
            return scenario

        return add
