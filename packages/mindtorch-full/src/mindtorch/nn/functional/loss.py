"""Losses. ``size_average`` and ``reduce`` are torch 0.4's spelling of ``reduction``; they warn and win."""

import math
import warnings

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import _reduction as _Reduction
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up

_INVALID = "Invalid reduction mode: {}. Expected one of 'none', 'mean', 'sum'."


def _enum(size_average: bool | None, reduce: bool | None, reduction: str) -> int:
    """Return the number of the reduction that the three arguments ask for together."""
    if size_average is not None or reduce is not None:
        return _Reduction.legacy_get_enum(size_average, reduce)
    return _Reduction.get_enum(reduction)


def _broadcast(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    if target.size() != input.size():
        input, target = mindtorch.broadcast_tensors(input, target)
    return input, target


def _warn_about_broadcast(input: Tensor, target: Tensor) -> None:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=frames_up(3),
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
    """Return the connectionist temporal classification loss of log-probabilities (T, N, C).

    >>> torch.nn.functional.ctc_loss(torch.zeros(2, 1, 2), torch.tensor([[1]]), torch.tensor([2]), torch.tensor([1]))
    tensor(-1.0986)
    """
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
    """Return the negated log-probability (N, C, *) of the target classes (N, *).

    >>> torch.nn.functional.nll_loss(torch.tensor([[-0.1, -2.3]]), torch.tensor([0]))
    tensor(0.1000)
    """
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
    """Return the negated log-likelihood of counts under Poisson distributions.

    >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0.]), torch.tensor([1.]))
    tensor(1.)
    """
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
    """Return the negated log-likelihood under normal distributions of mean ``input`` and variance ``var``.

    >>> torch.nn.functional.gaussian_nll_loss(torch.tensor([1.]), torch.tensor([2.]), torch.tensor([1.]))
    tensor(0.5000)
    """
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        variance = var * mindtorch.ones_like(input)
    elif mindtorch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    else:
        variance = var
    sizes, variances = input.size(), variance.size()
    if variances != sizes:
        if sizes[:-1] == variances:
            # One variance for all values of the last dimension.
            variance = mindtorch.unsqueeze(variance, dim=-1)
        elif len(sizes) != len(variances) or any(v not in (1, i) for v, i in zip(variances, sizes, strict=True)):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    variance = variance.clone()
    with mindtorch.no_grad():
        variance.clamp_(min=eps)
    loss = 0.5 * (mindtorch.log(variance) + (input - target) ** 2 / variance)
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
    """Return the Kullback-Leibler divergence of log-probabilities ``input`` from ``target``.

    >>> torch.nn.functional.kl_div(torch.tensor([[-0.5, -1.]]), torch.tensor([[0.5, 0.5]]), reduction="batchmean")
    tensor(0.0569)
    """
    if size_average is not None or reduce is not None:
        number = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
                "behave the same as 'batchmean' in the next major release.",
                stacklevel=frames_up(2),
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
    """Return the cross entropy of logits (N, C, *) and classes (N, *) or class probabilities (N, C, *).

    >>> torch.nn.functional.cross_entropy(torch.tensor([[2., 0.], [0., 2.]]), torch.tensor([0, 1]))
    tensor(0.1269)
    """
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
    """Return the cross entropy of probabilities and binary targets of one size.

    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]))
    tensor(0.6931)
    """
    number = _enum(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(mindtorch.broadcast_shapes(target.size(), weight.size()))
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
    """Return the cross entropy of logits and binary targets of one size.

    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.]), torch.tensor([1.]))
    tensor(0.6931)
    """
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
    """Return a loss quadratic below ``beta`` and linear above.

    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(0.7500)
    """
    _warn_about_broadcast(input, target)
    number = _enum(size_average, reduce, reduction)
    input, target = _broadcast(input, target)
    if beta == 0.0:
        return aten.l1_loss(input, target, number)
    return aten.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Return a loss quadratic below ``delta`` and linear with slope ``delta`` above.

    >>> torch.nn.functional.huber_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(0.7500)
    """
    _warn_about_broadcast(input, target)
    input, target = _broadcast(input, target)
    if weight is None:
        return aten.huber_loss(input, target, _Reduction.get_enum(reduction), delta)
    elements = aten.huber_loss(input, target, _Reduction.get_enum("none"), delta)
    return _weighted(elements, input, weight, reduction, _INVALID.format(reduction))


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return |input - target|.

    >>> torch.nn.functional.l1_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(1.)
    """
    _warn_about_broadcast(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    input, target = _broadcast(input, target)
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
    """Return (input - target) ** 2.

    >>> torch.nn.functional.mse_loss(torch.tensor([1., 2.]), torch.tensor([1., 4.]))
    tensor(2.)
    """
    _warn_about_broadcast(input, target)
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    input, target = _broadcast(input, target)
    if weight is None:
        return aten.mse_loss(input, target, _Reduction.get_enum(reduction))
    return _weighted((input - target) ** 2, input, weight, reduction, _INVALID.format(reduction))
