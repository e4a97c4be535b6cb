"""What a recorder says of the calls that it records: what they keep, and the formulas that take it. Native code reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class SaveKind(Enum):
    """What is kept of a call for the formulas."""

    TENSOR = "tensor"
    """An argument that is a tensor."""
    LIST = "list"
    """An argument that is a list with tensors."""
    SCALAR = "scalar"
    """A number."""
    OFFSET = "offset"
    """The storage offset of a tensor."""
    RESULT = "result"
    """One of the results."""


PLAIN_KINDS = frozenset(SaveKind) - {SaveKind.LIST}
"""The kinds that are one thing."""


@dataclass(slots=True, eq=False)  # frozen ones are slow to make, and every plan makes some
class Save:
    """One thing that each call keeps: `source` is its place in the call, or which of the results it is, `place` where the
    formulas look for it."""

    kind: SaveKind
    source: Any
    place: int


@dataclass(slots=True, eq=False)
class PlannedFormula:
    """A formula with what it is given and where its answers go.

    `select` takes what stands at `places` out of the environment. `targets` are the edges that the gradients are for: with
    `listed` as many as `fn` returns, else the one that it returns. `wants_first` says that it does nothing without the
    first output's gradient. `needs` is where it reads which of its arguments need a gradient, -1 where it does not ask;
    `counts` says how many of the targets are each argument's.
    """

    fn: Callable[..., Any]
    select: Callable[..., Any]
    targets: list[int]
    listed: bool
    wants_first: bool
    places: list[int]
    needs: int
    counts: list[int]

    def needed(self, wanted: Sequence[bool]) -> tuple[bool, ...]:
        """Return which of its arguments need a gradient when only some edges do."""
        targets = iter(self.targets)
        return tuple(any([wanted[next(targets)] for _ in range(count)]) for count in self.counts)
