"""Arguments as an operator's limits want them: with one dimension where it takes none of zero, and without gaps.

What an operator takes is data (`limits.json`); the rows of the operator table know nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_npu.aclnn import limits, signatures

_KEPT_DIMENSION = ("keepdim", "keepDim", "keepDims")


class Fitting:
    """Which arguments of an operator need one dimension at least, and which must lie without gaps."""

    __slots__ = ("keep", "lifted", "packed", "reduction", "tensors", "written")

    def __init__(self, name: str) -> None:
        params = signatures()[name]["params"][:-2]
        facts = limits().get(name, {}).get("args", {})
        labels = [label for _, label in params]
        self.tensors = tuple(place for place, (text, _) in enumerate(params) if "aclTensor*" in text.replace(" ", ""))
        entries = {place: facts.get(labels[place], {}) for place in self.tensors}
        self.written = frozenset(place for place in self.tensors if entries[place].get("io") == "out")
        self.lifted = tuple(place for place in self.tensors if _refuses_none(entries[place].get("rank")))
        self.packed = tuple(place for place in self.tensors if entries[place].get("strided") is False)
        self.keep = next((labels.index(label) for label in _KEPT_DIMENSION if label in labels), None)
        backward = name.endswith("Backward")  # whose results are of the unreduced shape
        self.reduction = labels.index("reduction") if "reduction" in labels and not backward else None

    def needed(self, arguments: Sequence[Any]) -> bool:
        """Return whether an argument is not as the operator wants it."""
        for place in self.lifted:
            array = arguments[place]
            if array is not None and not array.shape:
                return True
        return any(arguments[place] is not None and not arguments[place].contiguous for place in self.packed)

    def __call__(self, arguments: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Return the arguments to pass, and what is to be copied when they are written: target and source."""
        given, later = list(arguments), []
        for place in self.packed:
            array = given[place]
            if array is not None and not array.contiguous:
                given[place] = array.packed()
                if place in self.written:
                    later.append((array, given[place]))
        if any(arguments[place] is not None and not arguments[place].shape for place in self.lifted):
            for place in self.tensors:
                kept = place in self.written and self._gives_none(arguments) and not self._always(place)
                if not kept:
                    given[place] = _lifted(given[place])
        return given, later

    def _always(self, place: int) -> bool:
        """Return whether an output has a dimension even where the operator takes one away."""
        return self.reduction is None and place in self.lifted

    def _gives_none(self, arguments: Sequence[Any]) -> bool:
        """Return whether the operator takes a dimension away, so that its results have none."""
        if self.keep is not None:
            return not arguments[self.keep]
        return self.reduction is not None and arguments[self.reduction] in (1, 2)


def _refuses_none(rank: str | None) -> bool:
    return rank is not None and rank[0] in "1(" and rank not in ("()",)


def _lifted(array: Any) -> Any:
    """Return an array of no dimension as one of one element; others as they are."""
    if array is None or array.shape:
        return array
    return type(array)(array.storage, (1,), array.dtype, (1,), array.offset, array.base)


_fittings: dict[str, Fitting] = {}


def fitting_of(name: str) -> Fitting:
    """Return what operator `name` wants of its arguments."""
    found = _fittings.get(name)
    if found is None:
        found = _fittings.setdefault(name, Fitting(name))
    return found


__all__ = ["Fitting", "fitting_of"]
