"""Losses. ``size_average`` and ``reduce`` are torch 0.4's spelling of ``reduction``; they warn and win."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import _reduction as _Reduction
from mindtorch.ops_table import aten


def _enum(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """Return the number of the reduction that the three arguments ask for together."""
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_enum(size_average, reduce)
    return _Reduction.get_enum(reduction)


def _warn_about_broadcast(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )


def _weighted(loss: Tensor, input: Tensor, weight: Tensor, reduction: str, absent: str) -> Tensor:
    """Reduce ``loss`` elements times ``weight``; the mean is over the weights' sum."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    weighted = loss * weight
    if reduction == "none":
        return weighted
    if reduction == "sum":
        return mindtorch.sum(weighted)
    if reduction == "mean":
        return mindtorch.sum(weighted) / mindtorch.sum(weight)
    raise ValueError(absent)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the connectionist temporal classification loss of log-probabilities (T, N, C)."""
    return aten.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _Reduction.get_enum(reduction), zero_infinity
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negated log-probability (N, C, *) of the target classes (N, *)."""
    number = _enum(size_average, reduce, reduction)
    return aten.nll_loss_nd(input, target, weight, number, ignore_index)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negated log-likelihood of counts under Poisson distributions."""
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not a valid value for reduction")
    return aten.poisson_nll_loss(input, target, log_input, full, eps, _Reduction.get_enum(reduction))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return the negated log-likelihood under normal distributions of mean ``input`` and variance ``var``."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * mindtorch.ones_like(input)
    elif mindtorch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            # One variance for all values of the last dimension.
            var = mindtorch.unsqueeze(var, dim=-1)
        elif input.ndim != var.ndim or any(v not in (1, i) for v, i in zip(var.size(), input.size(), strict=True)):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with mindtorch.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (mindtorch.log(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return _reduced(loss, reduction)


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return the Kullback-Leibler divergence of log-probabilities ``input`` from ``target``."""
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
                "behave the same as 'batchmean' in the next major release.",
                stacklevel=2,
            )
        number = _Reduction.get_enum("sum" if reduction == "batchmean" else reduction)
    reduced = aten.kl_div(input, target, number, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        return reduced / input.size()[0]
    return reduced


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of logits (N, C, *) and classes (N, *) or class probabilities (N, C, *)."""
    number = _enum(size_average, reduce, reduction)
    return aten.cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the cross entropy of probabilities and binary targets of one size."""
    number = _enum(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(mindtorch._C._infer_size(target.size(), weight.size()))
    return aten.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the cross entropy of logits and binary targets of one size."""
    number = _enum(size_average, reduce, reduction)
    if not (target.size() == input.size()):
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return aten.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return a loss quadratic below ``beta`` and linear above."""
    _warn_about_broadcast(input, target)
    number = _enum(size_average, reduce, reduction)
    input, target = mindtorch.broadcast_tensors(input, target)
    if beta == 0.0:
        return aten.l1_loss(input, target, number)
    return aten.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Return a loss quadratic below ``delta`` and linear with slope ``delta`` above."""
    _warn_about_broadcast(input, target)
    input, target = mindtorch.broadcast_tensors(input, target)
    if weight is None:
        return aten.huber_loss(input, target, _Reduction.get_enum(reduction), delta)
    elements = aten.huber_loss(input, target, _Reduction.get_enum("none"), delta)
    return _weighted(elements, input, weight, reduction, _INVALID.format(reduction))


_INVALID = "Invalid reduction mode: {}. Expected one of 'none', 'mean', 'sum'."


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return |input - target|."""
    _warn_about_broadcast(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    input, target = mindtorch.broadcast_tensors(input, target)
    if weight is None:
        return aten.l1_loss(input, target, _Reduction.get_enum(reduction))
    return _weighted(mindtorch.abs(input - target), input, weight, reduction, _INVALID.format(reduction))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return (input - target) ** 2."""
    _warn_about_broadcast(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    input, target = mindtorch.broadcast_tensors(input, target)
    if weight is None:
        return aten.mse_loss(input, target, _Reduction.get_enum(reduction))
    return _weighted((input - target) ** 2, input, weight, reduction, _INVALID.format(reduction))


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the hinge loss between every target class and every other class."""
    return aten.multilabel_margin_loss(input, target, _enum(size_average, reduce, reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return log(1 + exp(-target * input))."""
    return aten.soft_margin_loss(input, target, _enum(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the mean over the classes of the binary cross entropy of logits."""
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
    """Return the hinge loss, to the power ``p``, between the target class and every other class."""
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
    """Return max(0, -target * (input1 - input2) + margin)."""
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
    """Return the input for target 1, ``max(0, margin - input)`` for target -1."""
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
    """Return 1 - cos for target 1, ``max(0, cos - margin)`` for target -1."""
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
    """Return max(0, d(anchor, positive) - d(anchor, negative) + margin) with the p-norm distance."""
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
    """Return :func:`triplet_margin_loss` with a distance of the caller's choice."""
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
