"""`torch.sym_int` and its like: arithmetic of numbers that may be symbolic in torch, and are plain numbers here."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._naming import adopt
from .._overridable import as_given, make_overridable


def sym_int(a: Any) -> int:
    """`int(a)`.

    >>> torch.sym_int(2.7)
    2
    """
    return int(a)


def sym_float(a: Any) -> float:
    """`float(a)`.

    >>> torch.sym_float(2)
    2.0
    """
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """The larger one.

    >>> torch.sym_max(2, 3)
    3
    """
    return max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller one.

    >>> torch.sym_min(2, 3)
    2
    """
    return min(a, b)


def sym_not(a: Any) -> bool:
    """`not a`.

    >>> torch.sym_not(True)
    False
    """
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`.

    >>> torch.sym_ite(True, 1, 2)
    1
    """
    return t if b else f


def sym_sum(*args: Any) -> Any:
    """The sum of numbers, which are given one by one or as one sequence.

    >>> torch.sym_sum([1, 2, 3]), torch.sym_sum(1, 2, 3)
    (6, 6)
    """
    return sum(args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args)


def _of_math(name: str) -> Callable[[float], object]:
    function = getattr(math, name)

    def sym(a: float) -> object:
        own = getattr(a, f"__sym_{name}__", None)
        return function(a) if own is None else own()

    sym.__name__ = sym.__qualname__ = f"_sym_{name}"
    sym.__module__ = "torch"
    sym.__doc__ = f"`math.{name}(a)`, or what the number's own method says."
    return sym


_MATH = "cos cosh sin sinh tan tanh asin acos atan".split()
globals().update({f"_sym_{name}": _of_math(name) for name in _MATH})
make_overridable(globals(), [f"_sym_{name}" for name in _MATH], as_given)
make_overridable(globals(), "sym_int sym_float sym_max sym_min sym_not sym_ite sym_sum".split(), as_given)


adopt(globals(), "torch")
