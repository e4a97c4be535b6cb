"""Distances of vectors."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative


def euclidean_dist_grad(grad: Tensor, self: Tensor, other: Tensor, result: Tensor) -> Any:
    """Gradient of the distances `result` (..., n, m) with respect to the rows of `self`; none where rows coincide."""
    share = aten.masked_fill(grad / result, aten.eq(result, 0), 0)
    return self * aten.sum(share, [-1], True) - aten.matmul(share, other)


derivative(
    "_euclidean_dist",
    x1=lambda grad, x1, x2, result: euclidean_dist_grad(grad, x1, x2, result),
    x2=lambda grad, x1, x2, result: euclidean_dist_grad(aten.mT(grad), x2, x1, aten.mT(result)),
)
