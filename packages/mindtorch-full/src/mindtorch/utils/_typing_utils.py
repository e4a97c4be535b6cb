"""Help for type checkers; at run time these return their argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mindtorch._naming import adopt

T = TypeVar("T")


def not_none(obj: T | None) -> T:
    """The object, which must not be None."""
    if obj is None:
        raise TypeError("Invariant encountered: value was None when it should not be")
    return obj


def _same(source: Any) -> Callable[[Any], Any]:
    return lambda function: function


copy_func_params = copy_func_sig = copy_method_params = copy_method_sig = _same

adopt(globals())
