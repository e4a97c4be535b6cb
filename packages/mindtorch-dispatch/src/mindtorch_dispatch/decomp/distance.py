"""Distances and similarities of vectors."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.strides import broadcast_shapes

from ..call import aten
from ..meta.checks import check
from ..meta.pointwise import promoted
from ..typing import Tensor


def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Any:
    """p-norm of the difference along the last dimension."""
    return aten.norm(x1 - x2 + eps, p, [-1], keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Any:
    """Cosine of the angle along `dim`; norms are at least eps."""
    common = promoted((x1._sig.spec, x2._sig.spec))
    check(
        common.is_floating_point,
        lambda: f"expected common dtype to be floating point, yet common dtype is {common.scalar_name}",
    )
    check(eps >= 0, lambda: f"eps must be non-negative, got: {eps:g}")
    shape = broadcast_shapes(tuple(x1.shape), tuple(x2.shape))
    # Each is normed in its own dtype, as in torch; integers in the common one.
    x1, x2 = (aten.expand(x if x.is_floating_point() else x.to(common), shape) for x in (x1, x2))
    return aten.sum(_directions(x1, dim, eps) * _directions(x2, dim, eps), [dim])


def _directions(x: Tensor, dim: int, eps: float) -> Any:
    norm = aten.linalg_vector_norm(x, 2, [dim], True)
    # The bound moves the value only: the gradient is that of the norm.
    bound = norm.detach()
    short = aten.lt(bound, eps)
    return x / (norm + aten.where(short, eps - bound, aten.zeros_like(bound)))


def pdist(self: Tensor, p: float) -> Any:
    """p-norm distances of all pairs of rows, in order."""
    shape = tuple(self.shape)
    check(len(shape) == 2, lambda: f"pdist only supports 2D tensors, got: {len(shape)}D")
    check(self.dtype.is_floating_point, lambda: "pdist only supports floating-point dtypes")
    check(p >= 0, lambda: "pdist only supports non-negative p values")
    first, second = aten.unbind(aten.triu_indices(shape[0], shape[0], 1, device=self.device), 0)
    return _lengths(aten.index_select(self, 0, first) - aten.index_select(self, 0, second), p)


def _lengths(difference: Tensor, p: float) -> Any:
    """p-norms over the last dimension; that of 0 counts, and its gradient is zero rather than none."""
    norms = aten.norm(difference, p, [-1])
    if p != 0:
        return norms
    return norms + aten.sum(aten.masked_fill(difference, aten.ones_like(difference, dtype=bool_dtype), 0), [-1])


def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Any:
    """p-norm distances between the rows of two batches of matrices."""
    for name, x in (("X1", x1), ("X2", x2)):
        check(
            x.dtype.is_floating_point,
            lambda name=name, x=x: f"cdist only supports floating-point dtypes, {name} got: {x.dtype.scalar_name}",
        )
    for name, x in (("X1", x1), ("X2", x2)):
        check(
            len(x.shape) >= 2,
            lambda name=name, x=x: f"cdist only supports at least 2D tensors, {name} got: {len(x.shape)}D",
        )
    check(
        x1.shape[-1] == x2.shape[-1],
        lambda: f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}",
    )
    check(p >= 0, lambda: "cdist only supports non-negative p values")
    if p == 2 and _by_product(x1, x2, compute_mode):
        batch = broadcast_shapes(tuple(x1.shape[:-2]), tuple(x2.shape[:-2]))
        x1, x2 = (aten.expand(x, [*batch, *x.shape[-2:]]) for x in (x1, x2))
        distances = aten._euclidean_dist(x1, x2)
        return aten.view(distances, distances.shape)  # no alias of what the gradient keeps
    return _lengths(aten.unsqueeze(x1, -2) - aten.unsqueeze(x2, -3), p)


_MANY = 25
"""More rows than these are compared by a product of matrices, which is faster and less exact."""


def _by_product(x1: Tensor, x2: Tensor, compute_mode: int | None) -> bool:
    rows = x1.shape[-2], x2.shape[-2]
    if x1.numel() == 0 or x2.numel() == 0 or compute_mode == 2:
        return False
    return compute_mode == 1 or max(rows) > _MANY


def euclidean_dist(x1: Tensor, x2: Tensor) -> Any:
    """Euclidean distances between the rows of two matrices, from one product of matrices."""
    squares1, squares2 = (aten.sum(aten.pow(x, 2), [-1], True) for x in (x1, x2))
    left = aten.cat([aten.mul(x1, -2), squares1, aten.ones_like(squares1)], -1)
    right = aten.cat([x2, aten.ones_like(squares2), squares2], -1)
    return aten.sqrt(aten.clamp_min(aten.matmul(left, aten.mT(right)), 0))
