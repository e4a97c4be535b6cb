"""Special functions composed of others."""

from __future__ import annotations

import math
from typing import Any

from ..call import aten


def polygamma_(self: Any, n: int) -> Any:
    """`polygamma` in place."""
    return aten.polygamma.out(n, self, out=self)


def ndtr(self: Any) -> Any:
    """Area under the standard normal density left of `self`."""
    return aten.mul.Scalar(aten.add(aten.erf(aten.mul(self, math.sqrt(0.5))), 1), 0.5)


def xlogy(self: Any, other: Any) -> Any:
    """`self * log(other)`."""
    return aten.xlogy(self, other)


def round_decimals(self: Any, decimals: int) -> Any:
    """`round` to a number of decimals."""
    return aten.round(self, decimals=decimals)
