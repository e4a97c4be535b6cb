"""The equation of `einsum`: its labels, the common order of dimensions, the extents of each label."""

from __future__ import annotations

from collections.abc import Sequence

from ..meta.checks import check

LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
ELLIPSIS = "."


def parse_inputs(left: str, count: int) -> list[list[str]]:
    """Return the labels of each operand, "." for an ellipsis."""
    labels: list[list[str]] = [[] for _ in range(count)]
    operand, ellipsis, at = 0, False, 0
    while at < len(left):
        label = left[at]
        if label == ".":
            check(
                not ellipsis,
                lambda: f"einsum(): found '.' for operand {operand} for which an ellipsis was already found",  # noqa: B023
            )
            check(
                left[at : at + 3] == "...",
                lambda: f"einsum(): found '.' for operand {operand} that is not part of any ellipsis",  # noqa: B023
            )
            labels[operand].append(ELLIPSIS)
            ellipsis, at = True, at + 2
        elif label == ",":
            operand, ellipsis = operand + 1, False
            check(operand < count, lambda: "einsum(): fewer operands were provided than specified in the equation")
        elif label != " ":
            check(
                label in LABELS,
                lambda at=at: (
                    f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must "
                    "be in [a-zA-Z]"
                ),
            )
            labels[operand].append(label)
        at += 1
    check(operand == count - 1, lambda: "einsum(): more operands were provided than specified in the equation")
    return labels


def count_labels(labels: list[list[str]], shapes: Sequence[Sequence[int]]) -> tuple[dict[str, int], int]:
    """Return how often each label occurs, and how many dimensions the widest ellipsis covers."""
    counts: dict[str, int] = {}
    covered = 0
    for at, (given, shape) in enumerate(zip(labels, shapes, strict=True)):
        dims, named = len(shape), len(given) - given.count(ELLIPSIS)
        has_ellipsis = named != len(given)
        if has_ellipsis:
            covered = max(covered, dims - named)
        for label in given:
            if label != ELLIPSIS:
                counts[label] = counts.get(label, 0) + 1
        between = (
            ") is more than the number of dimensions ("
            if has_ellipsis
            else ") does not match the number of dimensions ("
        )
        after = "" if has_ellipsis else " and no ellipsis was given"
        check(
            named <= dims if has_ellipsis else named == dims,
            lambda at=at, named=named, dims=dims, between=between, after=after: (
                f"einsum(): the number of subscripts in the equation ({named}{between}{dims}) for operand {at}{after}"
            ),
        )
    return counts, covered


class Places:
    """Where each label, and the ellipsis, stands in the common order: output dimensions first, then summed ones."""

    def __init__(self, equation: str, counts: dict[str, int], covered: int) -> None:
        self.covered = covered
        self.ellipsis = 0
        self.of: dict[str, int] = {}
        left, arrow, right = equation.partition("->")
        self.total = 0
        ellipsis_kept = not arrow
        if arrow:
            ellipsis_kept = self._explicit(right, len(left), counts)
        else:
            self.total = covered
            for label in LABELS:
                if counts.get(label) == 1:
                    self._place(label)
        self.kept = self.total
        if not ellipsis_kept:
            self.ellipsis = self.total
            self.total += covered
        for label in LABELS:
            if counts.get(label, 0) > 0 and label not in self.of:
                self._place(label)

    def _place(self, label: str) -> None:
        self.of[label] = self.total
        self.total += 1

    def _explicit(self, right: str, before: int, counts: dict[str, int]) -> bool:
        ellipsis, at = False, 0
        while at < len(right):
            label = right[at]
            if label == ".":
                check(not ellipsis, lambda: "einsum(): found '.' for output but an ellipsis (...) was already found")
                check(
                    right[at : at + 3] == "...",
                    lambda: "einsum(): found '.' for output that is not part of any ellipsis (...)",
                )
                self.ellipsis = self.total
                self.total += self.covered
                ellipsis, at = True, at + 2
            elif label != " ":
                check(
                    label in LABELS,
                    lambda at=at: (
                        f"einsum(): invalid subscript given at index {before + 2 + at} in the equation string, "
                        "subscripts must be in [a-zA-Z]"
                    ),
                )
                twice = label in self.of
                check(
                    counts.get(label, 0) > 0 and not twice,
                    lambda label=label, twice=twice: (
                        f"einsum(): output subscript {label}"
                        + (
                            " appears more than once in the output"
                            if twice
                            else " does not appear in the equation for any input operand"
                        )
                    ),
                )
                self._place(label)
            at += 1
        return ellipsis


class Sizes:
    """Extents seen so far, and how many operands have a dimension that is not of extent 1."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.labels: dict[str, int] = {}
        self.ellipsis = [1] * places.covered
        self.counts = [0] * places.total

    def see_ellipsis(self, at: int, dim: int, extent: int, operand: int) -> None:
        """Note a dimension covered by an ellipsis."""
        if extent == 1:
            return
        check(
            self.ellipsis[at] in (1, extent),
            lambda: (
                f"einsum(): dimension {dim} covered by ellipsis in operand {operand}has size {extent} which does not "
                f"broadcast with previously seen ellipsis with size {self.ellipsis[at]} for the respective dimension"
            ),
        )
        self.ellipsis[at] = extent
        self.counts[self.places.ellipsis + at] += 1

    def see(self, label: str, extent: int, operand: int) -> None:
        """Note a labelled dimension."""
        if extent == 1:
            return
        seen = self.labels.get(label, 1)
        check(
            seen in (1, extent),
            lambda: (
                f"einsum(): subscript {label} has size {extent} for operand {operand} which does not broadcast with "
                f"previously seen size {seen}"
            ),
        )
        self.labels[label] = extent
        self.counts[self.places.of[label]] += 1
