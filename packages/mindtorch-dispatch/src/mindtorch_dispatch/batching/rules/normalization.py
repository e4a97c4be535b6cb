"""Normalization: statistics are an example's own; weights may be too, and then they are applied afterwards."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import batched, folded, front, unfolded
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from .table import rule


def _affine(result: Any, weight: Any, bias: Any, dims: Any, shape: list[int]) -> Any:
    """Return `result` (batch first) scaled and shifted; `shape` is a weight's within an example."""
    for value, dim, call in ((weight, dims[0], aten.mul), (bias, dims[1], aten.add)):
        if value is None:
            continue
        lead = value.shape[dim] if dim is not None else 1
        one = value if dim is None else front(value, dim)
        result = call(result, aten.reshape(one, [lead, *[1] * (result.dim() - 1 - len(shape)), *shape]))
    return result


@rule("native_layer_norm")
def layer_norm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`native_layer_norm`."""
    input, shape, weight, bias, eps = values
    input = batched(input, dims[0], batch.size)
    if dims[2] is None and dims[3] is None:
        return list(invoke(row, [input, shape, weight, bias, eps])), [0, 0, 0]
    result, mean, rstd = invoke(row, [input, shape, None, None, eps])
    return [_affine(result, weight, bias, dims[2:4], list(shape)), mean, rstd], [0, 0, 0]


@rule("native_layer_norm_backward")
def layer_norm_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradients of `native_layer_norm`; those of the weights are summed within each example."""
    grad, input, shape, mean, rstd, weight, bias, mask = values
    size, within = batch.size, len(shape)
    grad, input, mean, rstd = (
        batched(value, dim, size)
        for value, dim in zip((grad, input, mean, rstd), (dims[0], dims[1], dims[3], dims[4]), strict=True)
    )
    outer = list(range(1, grad.dim() - within))
    for_input = for_weight = for_bias = None
    if mask[0]:
        scaled = _affine(grad, weight, None, (dims[5], None), list(shape))
        for_input = invoke(row, [scaled, input, shape, mean, rstd, None, None, [True, False, False]])[0]
    if mask[1] and weight is not None:
        made = aten.mul(grad, aten.mul(aten.sub(input, mean), rstd))
        for_weight = aten.sum(made, outer) if outer else made
    if mask[2] and bias is not None:
        for_bias = aten.sum(grad, outer) if outer else grad
    made = [for_input, for_weight, for_bias]
    return made, [None if one is None else 0 for one in made]


def _channels(value: Any) -> list[int]:
    return [value.shape[2], *[1] * (value.dim() - 3)]


@rule("native_group_norm")
def group_norm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`native_group_norm`: the images of all examples in one call."""
    input, weight, bias, count, *rest = values
    input = batched(input, dims[0], batch.size)
    own = dims[1] is not None or dims[2] is not None
    given = [None, None] if own else [weight, bias]
    images = aten.contiguous(folded(input))
    result, mean, rstd = (unfolded(one, batch.size) for one in invoke(row, [images, *given, count * batch.size, *rest]))
    if own:
        result = _affine(result, weight, bias, dims[1:3], _channels(result))
    return [result, mean, rstd], [0, 0, 0]


@rule("native_group_norm_backward")
def group_norm_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradients of `native_group_norm`."""
    grad, input, mean, rstd, weight, count, channels, area, groups, mask = values
    grad, input, mean, rstd = (
        batched(value, dim, batch.size) for value, dim in zip((grad, input, mean, rstd), dims[:4], strict=True)
    )
    for_input = for_weight = for_bias = None
    rest = [count * batch.size, channels, area, groups]
    if mask[0]:
        scaled = _affine(grad, weight, None, (dims[4], None), _channels(grad))
        given = [folded(one) for one in (scaled, input, mean, rstd)]
        for_input = unfolded(invoke(row, [*given, None, *rest, [True, False, False]])[0], batch.size)
    over = [1, *range(3, grad.dim())]
    if mask[1]:
        inside = [batch.size, count, groups, channels // groups, -1]
        spread = [batch.size, count, groups, 1, 1]
        scaled = aten.sub(aten.reshape(input, inside), aten.reshape(mean, spread))
        scaled = aten.reshape(aten.mul(scaled, aten.reshape(rstd, spread)), list(grad.shape))
        for_weight = aten.sum(aten.mul(grad, scaled), over)
    if mask[2]:
        for_bias = aten.sum(grad, over)
    made = [for_input, for_weight, for_bias]
    return made, [None if one is None else 0 for one in made]


def _beside(value: Any, dim: int | None, size: int) -> Any:
    """Return [N, B * C, ...]."""
    value = aten.transpose(batched(value, dim, size), 0, 1)
    return aten.reshape(value, [value.shape[0], value.shape[1] * value.shape[2], *value.shape[3:]])


def _apart(value: Any, size: int) -> Any:
    made = aten.reshape(value, [value.shape[0], size, value.shape[1] // size if size else 0, *value.shape[2:]])
    return aten.transpose(made, 0, 1)


def _joined(value: object, dim: int | None, size: int) -> Any:
    return None if value is None else aten.reshape(batched(value, dim, size), [-1])


@rule("native_batch_norm")
def batch_norm(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`native_batch_norm`: the examples' channels side by side."""
    input, weight, bias, mean, var, training, momentum, eps = values
    size = batch.size
    if training and mean is not None and dims[0] is not None and (dims[3] is None or dims[4] is None):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
            "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see the "
            "functorch website for resources on how to patch your module to work with vmap"
        )
    stats = [
        None if one is None else aten.clone(_joined(one, dim, size)) for one, dim in ((mean, dims[3]), (var, dims[4]))
    ]
    result, saved_mean, saved_std = invoke(
        row, [_beside(input, dims[0], size), None, None, *stats, training, momentum, eps]
    )
    result = _apart(result, size)
    result = _affine(result, weight, bias, dims[1:3], _channels(result))
    if training:
        for one, dim, new in ((mean, dims[3], stats[0]), (var, dims[4], stats[1])):
            if one is not None and dim is not None:
                aten.copy_(front(one, dim), aten.reshape(new, [size, -1]))
    made = [result, *(aten.reshape(one, [size, -1]) if one.numel() else aten.reshape(one, [size, 0])
                      for one in (saved_mean, saved_std))]  # fmt: skip
    return made, [0, 0, 0]


@rule("native_batch_norm_backward")
def batch_norm_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradients of `native_batch_norm`."""
    grad, input, weight, mean, var, saved_mean, saved_std, training, eps, mask = values
    size = batch.size
    given = [_beside(grad, dims[0], size), _beside(input, dims[1], size)]
    channels = given[1].shape[1] // size if size else 0
    scale = weight
    if weight is not None:
        scale = _joined(weight, dims[2], size)
    stats = [_joined(one, dim, size) for one, dim in ((mean, dims[3]), (var, dims[4]), (saved_mean, dims[5]),
                                                     (saved_std, dims[6]))]  # fmt: skip
    made = invoke(row, [*given, scale, *stats, training, eps, mask])
    result = [
        None if one is None else _apart(one, size) if number == 0 else aten.reshape(one, [size, channels])
        for number, one in enumerate(made)
    ]
    return result, [None if one is None else 0 for one in result]
