"""A call matched to an overload: what the argument parser hands to the planner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from mindtorch_storage.tensor_base import TensorBase

from ..table import OpRow


class Bound:
    """A call matched to an overload.

    `values` are in schema order; `sources[i]` is the position in `flat` (positional arguments, then keyword values)
    that `values[i]` came from, or None for a default or a converted value. `out` is the `out=` argument.
    `cacheable` is False when a value was read out of a tensor or converted in a way the plan key does not show.
    `places` says by argument where converted values came from, `...` for a list of all that follows `self`. `family` is what
    the planner found out that holds for other sizes, too (`plan.family`).
    """

    __slots__ = (
        "cacheable",
        "family",
        "flat",
        "out",
        "overload",
        "out_source",
        "places",
        "requires_grad",
        "row",
        "sources",
        "values",
    )

    def __init__(self, row: OpRow, values: list[Any], sources: list[int | None], flat: tuple[Any, ...]) -> None:
        self.row = row
        self.values = values
        self.sources = sources
        self.flat = flat
        self.out: Any = None
        self.out_source: int | None = None
        self.requires_grad = False
        self.cacheable = True
        self.family: Any = None
        self.places: dict[str, Any] = {}
        self.overload = False

    @property
    def first_source(self) -> int:
        """Where the first value came from; an operator that is planned by it is given one."""
        return cast(int, self.sources[0])


def tensor_leaves(values: Sequence[Any]) -> list[TensorBase]:
    """Return the tensors among `values`, those inside lists included."""
    found = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(item for item in value if isinstance(item, TensorBase))
    return found
