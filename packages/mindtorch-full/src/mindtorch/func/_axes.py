"""Patterns of axes, such as `a (b c) ... -> a b ...`, as lists of names: what `functorch.einops._parsing` has."""

from __future__ import annotations

import keyword
import warnings
from collections.abc import Collection, Mapping
from typing import Any

_ellipsis = "…"
"""Stands for the three dots, so that one character is one name."""


class AnonymousAxis:
    """An axis that is given by its length alone. Two of them are never equal."""

    def __init__(self, value: str) -> None:
        self.value = int(value)
        if self.value < 1:
            raise ValueError(f"Anonymous axis should have positive length, not {self.value}")

    def __repr__(self) -> str:
        return f"{self.value}-axis"


class ParsedExpression:
    """One side of a pattern: `composition` has per dimension the axes it is made of, or the ellipsis."""

    def __init__(self, expression: str, *, allow_underscore: bool = False, allow_duplicates: bool = False) -> None:
        self.has_ellipsis = False
        self.has_ellipsis_parenthesized: bool | None = None
        self.identifiers: set[str | AnonymousAxis] = set()
        self.has_non_unitary_anonymous_axes = False
        self.composition: list[list[str | AnonymousAxis] | str] = []
        self._allowed = (allow_underscore, allow_duplicates)
        self._open: list[str | AnonymousAxis] | None = None
        word = ""
        for letter in self._without_dots(expression):
            if letter not in "() ":
                if not (letter.isalnum() or letter in ("_", _ellipsis)):
                    raise ValueError(f"Unknown character '{letter}'")
                word += letter
                continue
            self._add(word)
            word = ""
            self._bracket(letter)
        if self._open is not None:
            raise ValueError(f"Imbalanced parentheses in expression: '{expression}'")
        self._add(word)

    def _without_dots(self, expression: str) -> str:
        if "." in expression:
            if "..." not in expression:
                raise ValueError("Expression may contain dots only inside ellipsis (...)")
            if expression.count("...") != 1 or expression.count(".") != 3:
                raise ValueError(
                    "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
                )
            expression = expression.replace("...", _ellipsis)
            self.has_ellipsis = True
        return expression

    def _bracket(self, letter: str) -> None:
        if letter == "(":
            if self._open is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            self._open = []
        elif letter == ")":
            if self._open is None:
                raise ValueError("Brackets are not balanced")
            self.composition.append(self._open)
            self._open = None

    def _add(self, name: str) -> None:
        if not name:
            return
        if name in self.identifiers and not (self._allowed[1] or (self._allowed[0] and name == "_")):
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
        if name == _ellipsis:
            self.identifiers.add(_ellipsis)
            self.has_ellipsis_parenthesized = self._open is not None
            if self._open is None:
                self.composition.append(_ellipsis)
            else:
                self._open.append(_ellipsis)
            return
        if name.isdecimal():
            self._add_axes([] if name == "1" else [AnonymousAxis(name)])
            return
        good, reason = self.check_axis_name_return_reason(name, allow_underscore=self._allowed[0])
        if not good:
            raise ValueError(f"Invalid axis identifier: {name}\n{reason}")
        self._add_axes([name])

    def _add_axes(self, axes: list[Any]) -> None:
        """Put an axis into the open brackets or, outside of them, as a dimension of its own; none of length 1."""
        self.has_non_unitary_anonymous_axes |= any(isinstance(axis, AnonymousAxis) for axis in axes)
        self.identifiers.update(axes)
        if self._open is None:
            self.composition.append(axes)
        else:
            self._open += axes

    @staticmethod
    def check_axis_name_return_reason(name: str, allow_underscore: bool = False) -> tuple[bool, str]:
        """Return whether an axis may have a name, and why not."""
        if not name.isidentifier():
            return False, "not a valid python identifier"
        if name[0] == "_" or name[-1] == "_":
            if name == "_" and allow_underscore:
                return True, ""
            return False, "axis name should should not start or end with underscore"
        if keyword.iskeyword(name):
            warnings.warn(
                f"It is discouraged to use axes names that are keywords: {name}", RuntimeWarning, stacklevel=2
            )
        return True, ""

    @staticmethod
    def check_axis_name(name: str) -> bool:
        """Return whether an axis may have a name."""
        return ParsedExpression.check_axis_name_return_reason(name)[0]


def parse_pattern(pattern: str, axes_lengths: Mapping[str, int]) -> tuple[ParsedExpression, ParsedExpression]:
    """Return both sides of a pattern; ValueError for what is none, or for lengths of what cannot be an axis."""
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    if _ellipsis in axes_lengths:
        raise ValueError(f"'{_ellipsis}' is not an allowed axis identifier")
    left, right = (ParsedExpression(side) for side in sides)
    if not left.has_ellipsis and right.has_ellipsis:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if left.has_ellipsis and left.has_ellipsis_parenthesized:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    return left, right


def validate_rearrange_expressions(
    left: ParsedExpression, right: ParsedExpression, axes_lengths: Mapping[str, int]
) -> None:
    """Raise what `rearrange` raises for two sides that do not go together, or lengths that do not."""
    for length in axes_lengths.values():
        if not isinstance(length, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    if left.has_non_unitary_anonymous_axes or right.has_non_unitary_anonymous_axes:
        raise ValueError("rearrange only supports unnamed axes of size 1")
    if alone := left.identifiers ^ right.identifiers:
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {alone}")
    if unknown := axes_lengths.keys() - left.identifiers:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def comma_separate(collection: Collection[str | Collection[str]]) -> str:
    """Return names with commas between them, those of an inner collection in brackets."""
    return ", ".join(one if isinstance(one, str) else f"({comma_separate(one)})" for one in collection)


for _part in (AnonymousAxis, ParsedExpression, parse_pattern, validate_rearrange_expressions, comma_separate):
    _part.__module__ = "functorch.einops._parsing"
