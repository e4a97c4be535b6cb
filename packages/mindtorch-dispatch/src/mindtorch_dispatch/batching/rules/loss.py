"""Losses: computed element by element, then reduced within each example."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import batched, example_shape, front, index_of, padded, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from ...typing import Tensor
from .pointwise import aligned, highest_rank
from .table import rule

NONE, MEAN, SUM = 0, 1, 2


def _reduced(value: Tensor, reduction: int) -> Any:
    """Return a [B, ...] loss reduced within each example."""
    if reduction == NONE:
        return value
    over = list(range(1, value.dim()))
    if not over:
        return value
    return aten.mean(value, over) if reduction == MEAN else aten.sum(value, over)


@rule("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits")
def elementwise(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Losses of pairs of elements."""
    at = index_of(row, "reduction")
    ndim = highest_rank(values, dims)
    made = aligned(row, values, dims, ndim)
    made[at] = NONE
    for place in (0, 1):
        if dims[place] is None:
            # A loss may refuse an operand that broadcasts within an example; one for all examples is none of those.
            shape = list(made[place].shape)
            made[place] = aten.expand(made[place], [batch.size, *[1] * (ndim - len(shape)), *shape])
    return _reduced(invoke(row, made), values[at]), 0


@rule("mse_loss_backward", "smooth_l1_loss_backward", "huber_loss_backward", "binary_cross_entropy_backward")
def elementwise_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Their gradients: the example's gradient is divided among its elements."""
    at = index_of(row, "reduction")
    ndim = max(rank(values[1], dims[1]), rank(values[2], dims[2]))
    made = [values[0], *aligned(row, values, dims, ndim)[1:]]
    grad = values[0]
    if dims[0] is not None:
        grad = padded(front(grad, dims[0]), ndim)
    if values[at] == MEAN:
        count = 1
        for extent in example_shape(values[1], dims[1]):
            count *= extent
        grad = aten.div(grad, max(count, 1))
    made[0], made[at] = grad, NONE
    shape = [batch.size, *example_shape(values[1], dims[1])]
    made[0] = aten.expand(made[0], shape)
    for place in (1, 2):
        made[place] = aten.expand(made[place], shape)
    return invoke(row, made), 0


def _weights(target: Tensor, weight: Tensor | None, ignored: int, like: Tensor) -> Any:
    """Return what every target counts; nothing for those that are ignored."""
    kept = aten.ne(target, ignored)
    if weight is None:
        return aten.to.dtype(kept, like.dtype)
    safe = aten.where(kept, target, aten.zeros_like(target))
    if weight.dim() == 1:
        chosen = aten.reshape(aten.index_select(weight, 0, aten.reshape(safe, [-1])), list(target.shape))
    else:
        flat = aten.reshape(safe, [target.shape[0], -1])
        chosen = aten.reshape(aten.gather(weight, 1, flat), list(target.shape))
    return aten.mul(chosen, kept)


def _classes(self: Tensor, target: Tensor, ignored: int) -> tuple[int, Any]:
    """Return the dimension of the classes, after the images', and the targets' classes along it; 0 where ignored."""
    kept = aten.ne(target, ignored)
    safe = aten.where(kept, target, aten.zeros_like(target))
    at = 1 if self.dim() == 2 else 2
    return at, aten.unsqueeze(safe, at)


def _log_likelihood(self: Tensor, target: Tensor, ignored: int) -> Any:
    """Return `self` at the targets' classes."""
    at, classes = _classes(self, target, ignored)
    return aten.squeeze(aten.gather(self, at, classes), at)


@rule("nll_loss_forward", "nll_loss2d_forward")
def nll_forward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`nll_loss`: the log-likelihood at the targets, weighted."""
    self, target, weight, reduction, ignored = values
    self, target = batched(self, dims[0], batch.size), batched(target, dims[1], batch.size)
    if weight is not None and dims[2] is not None:
        weight = front(weight, dims[2])
    if self.dim() == 2 and target.dim() == 2:  # one example's classes, its target given as a list of one
        target = aten.squeeze(target, 1)
    counts = _weights(target, weight, ignored, self)
    losses = aten.neg(aten.mul(_log_likelihood(self, target, ignored), counts))
    total = aten.sum(counts, list(range(1, counts.dim()))) if counts.dim() > 1 else counts
    if reduction == NONE:
        return [losses, aten.zeros_like(total)], [0, 0]
    summed = aten.sum(losses, list(range(1, losses.dim()))) if losses.dim() > 1 else losses
    return [aten.div(summed, total) if reduction == MEAN else summed, total], [0, 0]


@rule("nll_loss_backward", "nll_loss2d_backward")
def nll_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradient of `nll_loss`."""
    grad, self, target, weight, reduction, ignored, total = values
    self, target = batched(self, dims[1], batch.size), batched(target, dims[2], batch.size)
    grad, total = batched(grad, dims[0], batch.size), batched(total, dims[6], batch.size)
    if weight is not None and dims[3] is not None:
        weight = front(weight, dims[3])
    if self.dim() == 2 and target.dim() == 2:
        target = aten.squeeze(target, 1)
    counts = _weights(target, weight, ignored, self)
    if reduction == MEAN:
        grad = aten.div(grad, total)
    each = aten.neg(aten.mul(padded(grad, counts.dim() - 1), counts))
    at, classes = _classes(self, target, ignored)
    made = aten.scatter(aten.zeros_like(self), at, classes, aten.unsqueeze(each, at))
    return made, 0
