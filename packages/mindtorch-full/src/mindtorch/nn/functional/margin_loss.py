"""Losses of margins and distances."""

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import _reduction as _Reduction
from mindtorch.nn.functional.loss import _enum, _reduced
from mindtorch.ops_table import aten


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the hinge loss between every target class and every other class.

    >>> torch.nn.functional.multilabel_margin_loss(torch.tensor([[0.1, 0.9]]), torch.tensor([[1, -1]]))
    tensor(0.1000)
    """
    return aten.multilabel_margin_loss(input, target, _enum(size_average, reduce, reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return log(1 + exp(-target * input)).

    >>> torch.nn.functional.soft_margin_loss(torch.tensor([1.]), torch.tensor([1.]))
    tensor(0.3133)
    """
    return aten.soft_margin_loss(input, target, _enum(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over the classes of the binary cross entropy of logits.

    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.tensor([[0., 1.]]), torch.tensor([[0., 1.]]))
    tensor(0.5032)
    """
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    loss = -(target * aten.log_sigmoid(input) + (1 - target) * aten.log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    loss = loss.sum(dim=class_dim) / input.size(class_dim)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return _reduced(loss, reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the hinge loss, to the power ``p``, between the target class and every other class.

    >>> torch.nn.functional.multi_margin_loss(torch.tensor([[0.1, 0.9]]), torch.tensor([1]))
    tensor(0.1000)
    """
    number = _enum(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return aten.multi_margin_loss(input, target, p, margin, weight, number)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(0, -target * (input1 - input2) + margin).

    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([1.]))
    tensor(1.)
    """
    number = _enum(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return aten.margin_ranking_loss(input1, input2, target, margin, number)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the input for target 1, ``max(0, margin - input)`` for target -1.

    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1., -1.]))
    tensor(0.5000)
    """
    return aten.hinge_embedding_loss(input, target, margin, _enum(size_average, reduce, reduction))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return 1 - cos for target 1, ``max(0, cos - margin)`` for target -1.

    >>> torch.nn.functional.cosine_embedding_loss(torch.tensor([[1., 0.]]), torch.tensor([[1., 0.]]), torch.tensor([1]))
    tensor(0.)
    """
    number = _enum(size_average, reduce, reduction)
    return aten.cosine_embedding_loss(input1, input2, target, margin, number)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(0, d(anchor, positive) - d(anchor, negative) + margin) with the p-norm distance.

    >>> torch.nn.functional.triplet_margin_loss(torch.tensor([[0.]]), torch.tensor([[1.]]), torch.tensor([[3.]]))
    tensor(0.)
    """
    number = _enum(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return aten.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return :func:`triplet_margin_loss` with a distance of the caller's choice.

    >>> torch.nn.functional.triplet_margin_with_distance_loss(torch.tensor([[0.]]), torch.tensor([[1.]]), torch.tensor([[3.]]))
    tensor(0.)
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance: Any = aten.pairwise_distance if distance_function is None else distance_function
    dims = (anchor.ndim, positive.ndim, negative.ndim)
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    to_positive = distance(anchor, positive)
    to_negative = distance(anchor, negative)
    if swap:
        to_negative = mindtorch.minimum(to_negative, distance(positive, negative))
    return _reduced(mindtorch.clamp_min(margin + to_positive - to_negative, 0), reduction)
