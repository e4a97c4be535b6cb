"""The table of batching rules and how a row finds its own.

A rule is `fn(row, batch, values, dims) -> (results, batch dimensions)`: `values` are the call's in schema order, tensors as
the whole batch; `dims` say where the batch dimension is in each (a list for a list of tensors), None where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...meta.rule import every_dim
from ...table import OpRow, RowKind

RANDOM = "random"
"""The kind of rules that see every call under `vmap`, also those without batched arguments."""


class Rule:
    """A batching rule: its function and its kind."""

    __slots__ = ("fn", "kind")

    def __init__(self, fn: Callable[..., Any], kind: str = "") -> None:
        self.fn = fn
        self.kind = kind


rules: dict[str, Rule] = {}
"""Row name to rule; an in-place form has its functional row's unless it has its own."""

registered: dict[str, Rule] = {}
"""The rules that programs gave operators, by row name; they come first."""

families: dict[str, Rule] = {}
"""Rules that follow from the row's meta rule, by what it says of itself."""


def rule(*names: str, kind: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: make a function the rule of the rows `names`."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        made = Rule(fn, kind)
        for name in names:
            rules[name] = made
        return fn

    return register


def find_rule(row: OpRow) -> Rule | None:
    """Return the rule of a row, None when its parts or a loop over slices compute it."""
    own = registered.get(row.name)
    if own is not None:
        return own
    if "::" in row.packet:
        return None
    own = rules.get(row.name)
    if own is not None:
        return own
    if row.kind is RowKind.INPLACE and row.base is not None:
        if _elementwise(row) and row.base.name not in rules:
            return families["pointwise_"]
        return None if find_rule(row.base) is None else families["inplace"]
    if _elementwise(row):
        return families["pointwise_" if row.kind is RowKind.MUTATING else "pointwise"]
    return None


def _elementwise(row: OpRow) -> bool:
    return row.meta is not None and getattr(row.meta, "leading", None) is every_dim
