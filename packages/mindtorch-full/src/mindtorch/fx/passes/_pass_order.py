"""What both pass managers keep: passes, and constraints on their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def before(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that `this` runs before `that`."""

    def depends_on(a: Pass, b: Pass) -> bool:
        return a != that or b != this

    return depends_on


def check_order(constraint: Constraint, passes: list[Pass], gap: str) -> None:
    """Raise torch's RuntimeError where a constraint forbids the order.

    The text counts the second pass from after the first, and has `gap` before that number.
    """
    for first, a in enumerate(passes):
        for second, b in enumerate(passes[first + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {first} and {b} at "
                    f"index{gap}{second} in pass list."
                )


class Schedule:
    """Passes and the constraints on their order, with whether they were compared since the last change."""

    passes: list[Pass]
    constraints: list[Constraint]
    _validated: bool = False

    def __init__(self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None) -> None:
        self.passes = passes or []
        self.constraints = constraints or []

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def _check_all(self, gap: str) -> None:
        """Raise RuntimeError if a constraint forbids the order of the passes."""
        if self._validated:
            return
        for constraint in self.constraints:
            check_order(constraint, self.passes, gap)
        self._validated = True
