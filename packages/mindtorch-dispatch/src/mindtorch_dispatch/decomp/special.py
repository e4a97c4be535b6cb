"""Special functions composed of others."""

from __future__ import annotations

import math
from typing import Any

from ..call import aten
from ..typing import Tensor, TensorOrScalar


def polygamma_(self: Tensor, n: int) -> Any:
    """`polygamma` in place."""
    return aten.polygamma.out(n, self, out=self)


def ndtr(self: Tensor) -> Any:
    """Area under the standard normal density left of `self`."""
    return aten.mul.Scalar(aten.add(aten.erf(aten.mul(self, math.sqrt(0.5))), 1), 0.5)


def xlogy(self: TensorOrScalar, other: TensorOrScalar) -> Any:
    """`self * log(other)`."""
    return aten.xlogy(self, other)


def round_decimals(self: Tensor, decimals: int) -> Any:
    """`round` to a number of decimals."""
    return aten.round(self, decimals=decimals)
