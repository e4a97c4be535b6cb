"""Composed ops that come down to one call of another op for most operands: a plan can be that call's."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..call import aten


class Single:
    """The composing function `otherwise`, and what it comes down to.

    `rule` takes what `otherwise` takes, with the specs of tensors in their place, and returns the name of an op and the
    values that follow the first tensor in its call; None where it is more than one call, or arguments are wrong.
    """

    def __init__(self, rule: Callable[..., tuple[str, tuple[Any, ...]] | None], otherwise: Callable[..., Any]) -> None:
        self.rule = rule
        self.otherwise = otherwise
        update_wrapper(self, otherwise)

    def __call__(self, *values: object) -> Any:
        return self.otherwise(*values)

    def settled(self, values: list[Any]) -> tuple[Callable[..., Any], list[Any]] | None:
        """Return the op's function and the values of its call, None in the first tensor's place; None where there is no
        such call."""
        found = self.rule(*[value._sig.spec if isinstance(value, TensorBase) else value for value in values])
        if found is None:
            return None
        name, rest = found
        return getattr(aten, name), [None, *rest]
