"""How far the operands of an op have to lie apart in memory from what it writes."""

from __future__ import annotations

from collections.abc import Mapping

PARTLY = "partly"
"""An operand may be the written tensor itself, element by element, but not cover a part of it, nor all in another order."""
COPIED = "copied"
"""As PARTLY, for an operand that torch copies into the result first: only one of the result's own shape is looked at."""
COLUMN = "column"
"""As PARTLY, for a vector that torch makes a column first."""
WHOLLY = "wholly"
"""An operand shares no memory with the written tensor."""


class Apart:
    """How far operands have to lie apart from what a call writes, in place or as `out=`: what torch looks at, no more.

    `every` holds for all operands but those at `places`, argument indices; "" is not looked at. Only the first `results`
    of the written tensors are looked at. `resized`: an `out=` tensor is looked at with the geometry that it will have, others
    as they are given. `first`: memory is looked at before shapes and dtypes, so that a call with both faults names memory.
    """

    __slots__ = ("every", "first", "places", "resized", "results")

    def __init__(
        self,
        every: str = "",
        places: Mapping[int, str] | None = None,
        *,
        results: int | None = None,
        resized: bool = False,
        first: bool = False,
    ) -> None:
        self.every = every
        self.places = places or {}
        self.results = results
        self.resized = resized
        self.first = first


ANYWHERE = Apart()
"""No operand is looked at."""

ELEMENTWISE = Apart(PARTLY, first=True)
"""Every operand may be the written tensor, none may cover a part of it."""
BY_ELEMENT = Apart(PARTLY)
"""As ELEMENTWISE, of ops that look at their arguments first."""
NOTHING_SHARED = Apart(WHOLLY)
"""No operand shares memory with the written tensor."""
NOTHING_SHARED_AFTER = Apart(WHOLLY, resized=True)
"""No operand shares memory with the written tensor as it is after it was resized."""
