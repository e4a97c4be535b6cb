"""Convolutions: examples with weights of their own are groups of one larger convolution."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import batched, folded, front, rank, unfolded
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from ...typing import Tensor
from .table import rule


def _beside(value: Tensor, dim: int | None, size: int) -> Any:
    """Return [N, B * C, ...]: the examples' channels side by side."""
    value = aten.transpose(batched(value, dim, size), 0, 1)
    shape = value.shape
    return aten.reshape(value, [shape[0], shape[1] * shape[2], *shape[3:]])


def _apart(value: Any, size: int) -> Any:
    """Return [N, B * C, ...] as [B, N, C, ...]."""
    shape = value.shape
    return aten.transpose(aten.reshape(value, [shape[0], size, shape[1] // size, *shape[2:]]), 0, 1)


@rule("convolution")
def convolution(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`convolution`."""
    input, weight, bias, *how = values
    size = batch.size
    own_bias = bias is not None and (dims[2] is not None or dims[1] is not None)
    plain = None if own_bias else bias
    if dims[1] is None and dims[0] is None:
        made = aten.unsqueeze(invoke(row, [input, weight, plain, *how]), 0)
    elif dims[1] is None:
        made = unfolded(invoke(row, [folded(front(input, dims[0])), weight, plain, *how]), size)
    else:
        groups = how[-1] * size
        made = _apart(
            invoke(row, [_beside(input, dims[0], size), folded(front(weight, dims[1])), None, *how[:-1], groups]), size
        )
    if own_bias:
        spatial = [1] * (made.dim() - 3)
        bias = bias if dims[2] is None else front(bias, dims[2])
        made = aten.add(made, aten.reshape(bias, [-1 if dims[2] is not None else 1, 1, bias.shape[-1], *spatial]))
    return made, 0


@rule("convolution_backward")
def convolution_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradients of `convolution`: that of the weight is the examples' own, so they are computed side by side."""
    grad, input, weight, bias_sizes, *how, groups, mask = values
    size = batch.size
    for_input = for_weight = for_bias = None
    if mask[0]:
        chosen = [True, False, False]
        if dims[2] is None:
            given = [folded(batched(grad, dims[0], size)), folded(batched(input, dims[1], size)), weight]
            for_input = unfolded(invoke(row, [*given, bias_sizes, *how, groups, chosen])[0], size)
        else:
            given = [_beside(grad, dims[0], size), _beside(input, dims[1], size), folded(front(weight, dims[2]))]
            for_input = _apart(invoke(row, [*given, None, *how, groups * size, chosen])[0], size)
    if mask[1]:
        weights = folded(batched(weight, dims[2], size))
        given = [_beside(grad, dims[0], size), _beside(input, dims[1], size), weights]
        made = invoke(row, [*given, None, *how, groups * size, [False, True, False]])[1]
        for_weight = unfolded(made, size)
    if mask[2]:
        ndim = rank(grad, dims[0])
        for_bias = aten.sum(batched(grad, dims[0], size), [1, *range(3, ndim + 1)])
        if bias_sizes is not None and for_bias.shape[1:] != (
            *bias_sizes,
        ):  # without input channels there are no results
            for_bias = aten.new_zeros(for_bias, [size, *bias_sizes])
    made = [for_input, for_weight, for_bias]
    return made, [None if one is None else 0 for one in made]
