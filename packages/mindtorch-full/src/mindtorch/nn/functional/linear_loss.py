"""A linear layer and the cross entropy of its results as one function."""

import warnings
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.functional.loss import cross_entropy
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """Return the cross entropy of ``linear(input, linear_weight, linear_bias)`` and ``target``.

    Shapes: input (in) or (N, in), weight (C, *, in), bias (C, *), target (N, *) of classes or (N, C, *) of
    probabilities. ``options`` change nothing but a warning where torch ignores them too.

    >>> x, weight, target = torch.ones(2, 3), torch.zeros(4, 3), torch.tensor([0, 1])
    >>> torch.nn.functional.linear_cross_entropy(x, weight, target)
    tensor(1.3863)
    """
    _check_shapes(input, linear_weight, linear_bias)
    out_features = tuple(linear_weight.shape[1:-1])
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if options is not None and (label_smoothing != 0 or target.dtype != mindtorch.int64 or out_features):
        _warn_ignored(reduction, label_smoothing, target, out_features, linear_bias)
    if out_features:
        bias = None if linear_bias is None else linear_bias.flatten()
        logits = aten.linear(input, linear_weight.flatten(0, -2), bias)
        logits = logits.unflatten(-1, tuple(linear_weight.shape[:-1]))
    else:
        logits = aten.linear(input, linear_weight, linear_bias)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _check_shapes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {weight.dim()}")
    if input.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {weight.shape[-1]}, respectively"
        )
    if weight.dim() > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}")


def _warn_ignored(
    reduction: str, label_smoothing: float, target: Tensor, out_features: tuple[int, ...], bias: Tensor | None
) -> None:
    shape = None if bias is None else tuple(bias.shape)
    warnings.warn(
        "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
        "label_smoothing == 0, target.dtype == int64, out_features == (). Got "
        f"reduction={reduction!r}, label_smoothing={label_smoothing}, target.dtype={target.dtype}, "
        f"out_features={out_features}, tracing=False, linear_bias.shape={shape}.",
        stacklevel=frames_up(3),
    )
