"""Arguments of normalizations, products, attention, convolutions and pools."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as mt
from mindtorch_testing.operands.draw import Operands
from mindtorch_testing.operands.recipes import at_least, rows


def _mask(draw: Operands, count: int = 3) -> list[bool]:
    return [draw.chance(0.8) for _ in range(count)]


def _maybe(draw: Operands, shape: tuple[int, ...]) -> Any:
    return draw.tensor(shape) if draw.chance(0.7) else None


# --- normalizations


@rows("native_layer_norm")
def _layer_norm(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    inner = shape[-draw.whole(1, min(2, len(shape))) :]
    return [draw.tensor(shape), list(inner), _maybe(draw, inner), _maybe(draw, inner), 1e-5]


@rows("native_layer_norm_backward")
def _layer_norm_backward(draw: Operands) -> list[Any]:
    (given, inner, weight, bias, _), _ = _layer_norm(draw)
    outer = (*given.shape[: given.dim() - len(inner)], *(1 for _ in inner))
    grad = draw.tensor(given.shape)
    return [grad, given, inner, draw.tensor(outer), draw.tensor(outer, unit=True), weight, bias, _mask(draw)]


def _channels(draw: Operands) -> tuple[int, ...]:
    shape = at_least(draw, 2)
    return (shape[0], draw.pick([1, 2, 3, 6, 8, 12]), *(min(extent, 9) for extent in shape[2:]))


@rows("native_batch_norm")
def _batch_norm(draw: Operands) -> list[Any]:
    shape = _channels(draw)
    one = shape[1:2]
    running = [draw.tensor(one), draw.tensor(one, unit=True)] if draw.chance(0.8) else [None, None]
    training = running[0] is None or draw.chance(0.6)
    return [draw.tensor(shape), _maybe(draw, one), _maybe(draw, one), *running, training, 0.1, 1e-5]


@rows("native_batch_norm_backward")
def _batch_norm_backward(draw: Operands) -> list[Any]:
    (given, weight, _, mean, variance, training, _, eps), _ = _batch_norm(draw)
    one = tuple(given.shape[1:2])
    saved = [draw.tensor(one), draw.tensor(one, unit=True)]
    return [draw.tensor(given.shape), given, weight, mean, variance, *saved, training, eps, _mask(draw)]


@rows("native_group_norm")
def _group_norm(draw: Operands) -> list[Any]:
    shape = _channels(draw)
    groups = draw.pick([1, 1, 2, 3, shape[1]])
    one = shape[1:2]
    inner = math.prod(shape[2:])
    return [draw.tensor(shape), _maybe(draw, one), _maybe(draw, one), shape[0], shape[1], inner, groups, 1e-5]


@rows("native_group_norm_backward")
def _group_norm_backward(draw: Operands) -> list[Any]:
    # Sums of infinite products are infinite or nan by the order of their factors.
    (given, weight, _, count, channels, inner, groups, _), _ = _group_norm(draw.tame())
    saved = [draw.tensor((count, groups)), draw.tensor((count, groups), unit=True)]
    return [draw.tensor(given.shape), given, *saved, weight, count, channels, inner, groups, _mask(draw)]


# --- products


def _sizes(draw: Operands, count: int) -> list[int]:
    sizes = [draw.pick([0, 1, 1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 65]) for _ in range(count)]
    if draw.chance(0.03):
        sizes[draw.whole(0, count - 1)] = 260
    return sizes if draw.chance(0.1) else [size or 4 for size in sizes]


def _off(draw: Operands, size: int) -> int:
    return size + 1 if draw.chance(0.03) else size


def _scales(draw: Operands) -> dict[str, Any]:
    return {"beta": draw.pick([1, 0, 0.5]), "alpha": draw.pick([1, 2.0, 0])} if draw.chance(0.5) else {}


@rows("mm")
def _mm(draw: Operands) -> list[Any]:
    m, k, n = _sizes(draw, 3)
    return [draw.tensor((m, k)), draw.tensor((_off(draw, k), n))]


@rows("bmm")
def _bmm(draw: Operands) -> list[Any]:
    m, k, n = _sizes(draw, 3)
    batch = draw.pick([0, 1, 2, 5])
    return [draw.tensor((batch, m, k)), draw.tensor((batch, _off(draw, k), n))]


@rows("mv")
def _mv(draw: Operands) -> list[Any]:
    m, k = _sizes(draw, 2)
    return [draw.tensor((m, k)), draw.tensor((_off(draw, k),))]


@rows("dot")
def _dot(draw: Operands) -> list[Any]:
    (k,) = _sizes(draw, 1)
    return [draw.tensor((k,)), draw.tensor((_off(draw, k),))]


@rows("addmm")
def _addmm(draw: Operands) -> Any:
    (left, right), _ = _mm(draw)
    return [draw.tensor(draw.broadcast((left.shape[0], right.shape[1]))), left, right], _scales(draw)


@rows("baddbmm")
def _baddbmm(draw: Operands) -> Any:
    (left, right), _ = _bmm(draw)
    return [draw.tensor(draw.broadcast((*left.shape[:2], right.shape[2]))), left, right], _scales(draw)


@rows("addmv")
def _addmv(draw: Operands) -> Any:
    (left, right), _ = _mv(draw)
    return [draw.tensor(draw.broadcast((left.shape[0],))), left, right], _scales(draw)


# --- attention


@rows("_scaled_dot_product_flash_attention_for_cpu")
def _attention(draw: Operands) -> Any:
    batch, heads = draw.pick([1, 2]), draw.pick([1, 3])
    queries, keys = draw.pick([1, 2, 7, 33, 64, 65]), draw.pick([1, 3, 8, 33, 64, 70])
    width = draw.pick([1, 4, 8, 16, 17, 33])
    causal = draw.chance(0.3)
    if causal:
        draw.tame()  # whether a key that has no weight is looked at, and its nan seen, depends on the blocks
    query, key = [draw.tensor((batch, heads, length, width)) for length in (queries, keys)]
    options: dict[str, Any] = {"scale": 0.3} if draw.chance(0.3) else {}
    if draw.chance(0.4):
        mask = draw.pick([(batch, heads, queries, keys), (queries, keys), (batch, 1, 1, keys)])
        options["attn_mask"] = draw.tensor(mask, draw.dtype)
    draw.tame()  # whether the least weight is 0, and gives nan with an infinite value, is rounding
    value = draw.tensor((batch, heads, keys, width))
    return [query, key, value, 0.0, causal], options


@rows("_scaled_dot_product_flash_attention_for_cpu_backward")
def _attention_backward(draw: Operands) -> Any:
    (query, key, value, dropout, causal), options = _attention(draw.tame())
    if value.stride(2) == 0:  # values that are all the same leave nothing but rounding in the gradients of the scores
        value = value.contiguous().copy_(mt.linspace(-1, 1, value.numel()).view(value.shape))
    out, summed = mt.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout, causal, **options)
    grad = draw.tensor(query.shape)
    return [grad, query, key, value, out, summed, dropout, causal], options


# --- convolutions and pools


@rows("convolution")
def _convolution(draw: Operands) -> list[Any]:
    spatial = draw.whole(1, 3)
    groups = draw.pick([1, 1, 1, 2, 4])
    inner, outer = groups * draw.pick([1, 2, 5]), groups * draw.pick([1, 2, 9])
    transposed = draw.chance(0.25)
    size = tuple(draw.pick([1, 2, 5, 8, 11]) for _ in range(spatial))
    window = tuple(draw.pick([1, 1, 2, 3, 5]) for _ in range(spatial))
    most = 2
    if draw.chance(0.1):  # what minimal filtering takes
        most, inner, outer, size, window = 1, 24 * groups, 25 * groups, (14, 13), (3, 3)
    weight = (inner, outer // groups, *window) if transposed else (outer, inner // groups, *window)
    stride, dilation = ([draw.whole(1, most) for _ in size] for _ in "sd")
    padding = [draw.whole(0, 2) for _ in size]
    output_padding = [draw.whole(0, 1) if transposed else 0 for _ in size]
    given = draw.tensor((draw.pick([0, 1, 1, 2, 3]), inner, *size))
    bias = draw.tensor((outer,)) if draw.chance(0.6) else None
    return [given, draw.tensor(weight), bias, stride, padding, dilation, transposed, output_padding, groups]


@rows("convolution_backward")
def _convolution_backward(draw: Operands) -> list[Any]:
    (given, weight, bias, *options), _ = _convolution(draw)
    stride, padding, dilation, transposed, extra, groups = options
    size = []
    for place in range(len(stride)):
        span = dilation[place] * (weight.shape[2 + place] - 1) + 1
        before = given.shape[2 + place]
        if transposed:
            size.append((before - 1) * stride[place] - 2 * padding[place] + span + extra[place])
        else:
            size.append((before + 2 * padding[place] - span) // stride[place] + 1)
    outer = weight.shape[1] * groups if transposed else weight.shape[0]
    grad = draw.tensor((given.shape[0], outer, *(max(extent, 0) for extent in size)))
    return [grad, given, weight, [outer] if bias is not None else None, *options, _mask(draw)]


def _planes(draw: Operands, dims: int) -> Any:
    shape = (*(draw.pick([0, 1, 2, 3]) or 1 for _ in "nc"), *(draw.pick([1, 2, 5, 8, 17]) for _ in range(dims)))
    return draw.tensor(shape[1:] if draw.chance(0.2) else shape)


def _max_pool(draw: Operands, dims: int) -> list[Any]:
    window = [draw.whole(1, 3) for _ in range(dims)]
    stride = [] if draw.chance(0.3) else [draw.whole(1, 3) for _ in window]
    padding = [draw.whole(0, extent // 2) for extent in window]
    return [_planes(draw, dims), window, stride, padding, [draw.whole(1, 2) for _ in window], draw.chance(0.3)]


def _pooled(given: Any, window: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> tuple[int, ...]:
    """Return the shape of what a pool makes of a tensor."""
    dims = len(window)
    size = []
    for place in range(dims):
        step = (stride or window)[place]
        extent = given.shape[given.dim() - dims + place]
        span = extent + 2 * padding[place] - dilation[place] * (window[place] - 1) - 1
        count = (span + (step - 1 if ceil else 0)) // step + 1
        outside = ceil and (count - 1) * step >= extent + padding[place]
        size.append(max(count - outside, 0))
    return (*given.shape[:-dims], *size)


def _avg_pool(draw: Operands, dims: int) -> list[Any]:
    given, window, stride, padding, _, ceil = _max_pool(draw, dims)
    return [given, window, stride, padding, ceil, draw.chance(0.5), draw.pick([None, None, 1, 3])]


def _avg_pool_backward(draw: Operands, dims: int) -> list[Any]:
    given, window, stride, padding, ceil, *options = _avg_pool(draw, dims)
    shape = _pooled(given, window, stride, padding, [1] * dims, ceil)
    return [draw.tensor(shape), given, window, stride, padding, ceil, *options]


def _max_pool_backward(draw: Operands, dims: int) -> list[Any]:
    given, window, stride, padding, dilation, ceil = _max_pool(draw, dims)
    shape = _pooled(given, window, stride, padding, dilation, ceil)
    indices = draw.indices(shape, math.prod(given.shape[-dims:]))
    return [draw.tensor(shape), given, window, stride, padding, dilation, ceil, indices]


def _cells_backward(draw: Operands, dims: int, fractional: bool) -> list[Any]:
    given = _planes(draw, dims)
    shape = (*given.shape[:-dims], *(draw.whole(1, extent) for extent in given.shape[-dims:]))
    indices = draw.indices(shape, math.prod(given.shape[-dims:]))
    options = [[1] * dims, list(shape[-dims:])] if fractional else []
    return [draw.tensor(shape), given, *options, indices]


def _shares(draw: Operands, dims: int) -> list[Any]:
    """Return the gradients of cells, and what they are cells of."""
    given = _planes(draw, dims)
    return [draw.tensor((*given.shape[:-dims], *(draw.whole(1, 7) for _ in range(dims)))), given]


for _dims in (2, 3):
    rows(f"avg_pool{_dims}d")(lambda draw, dims=_dims: _avg_pool(draw, dims))
    rows(f"avg_pool{_dims}d_backward")(lambda draw, dims=_dims: _avg_pool_backward(draw, dims))
    rows(f"_adaptive_avg_pool{_dims}d_backward")(lambda draw, dims=_dims: _shares(draw, dims))
    rows(f"max_pool{_dims}d_with_indices")(lambda draw, dims=_dims: _max_pool(draw, dims))
    rows(f"max_pool{_dims}d_with_indices_backward")(lambda draw, dims=_dims: _max_pool_backward(draw, dims))
    rows(f"adaptive_max_pool{_dims}d _adaptive_avg_pool{_dims}d")(
        lambda draw, dims=_dims: [_planes(draw, dims), [draw.pick([1, 2, 3, 7]) for _ in range(dims)]]
    )
    rows(f"adaptive_max_pool{_dims}d_backward")(lambda draw, dims=_dims: _cells_backward(draw, dims, False))
    rows(f"fractional_max_pool{_dims}d_backward")(lambda draw, dims=_dims: _cells_backward(draw, dims, True))


def _sampling(draw: Operands) -> tuple[Any, Any, list[Any]]:
    """Return planes, points within and around them, and how they are sampled."""
    draw.tame()
    count, channels = draw.whole(1, 3), draw.pick([1, 3, 17])
    planes = draw.tensor((count, channels, draw.pick([1, 2, 9]), draw.pick([1, 3, 17])))
    grid = draw.tensor((count, draw.pick([1, 5]), draw.pick([1, 7, 150]), 2))
    return planes, grid, [draw.whole(0, 2), draw.whole(0, 2), draw.chance(0.5)]


@rows("grid_sampler_2d")
def _grid_sampler(draw: Operands) -> list[Any]:
    planes, grid, how = _sampling(draw)
    return [planes, grid, *how]


@rows("grid_sampler_2d_backward")
def _grid_sampler_backward(draw: Operands) -> list[Any]:
    planes, grid, how = _sampling(draw)
    grad = draw.tensor((*planes.shape[:2], *grid.shape[1:3]))
    return [grad, planes, grid, *how, [draw.chance(0.8), draw.chance(0.8)]]


# --- recurrent layers


def _recurrent(draw: Operands) -> tuple[list[Any], bool, list[int], int]:
    """Return the tensors of a layer, whether it runs backwards, its batch sizes, and its mode."""
    mode, steps, inputs, hidden = draw.whole(0, 3), draw.whole(1, 6), draw.whole(1, 20), draw.whole(1, 40)
    sums = (1, 1, 4, 3)[mode] * hidden
    sizes = sorted((draw.whole(1, 17) for _ in range(steps)), reverse=True)
    packed = draw.chance(0.4)
    first = (sum(sizes), inputs) if packed else (steps, sizes[0], inputs)
    draw.tame()
    tensors = [draw.tensor(shape) for shape in (first, (sums, inputs), (sums, hidden), (sums,), (sums,))]
    state = (sizes[0], hidden) if draw.chance(0.5) else (1, sizes[0], hidden)
    tensors += [draw.tensor(state), draw.tensor(state)]
    return tensors, draw.chance(0.5), sizes if packed else [], mode


@rows("mkldnn_rnn_layer")
def _rnn_layer(draw: Operands) -> list[Any]:
    # Not to train: a workspace is numbers as bytes, whose last bits may differ.
    tensors, reverse, sizes, mode = _recurrent(draw)
    return [*tensors, reverse, sizes, mode, tensors[5].shape[-1], 1, True, False, False, False]


@rows("mkldnn_rnn_layer_backward")
def _rnn_layer_backward(draw: Operands) -> list[Any]:
    tensors, reverse, sizes, mode = _recurrent(draw)
    hidden = tensors[5].shape[-1]
    options = (mode, hidden, 1, True)
    *made, workspace = mt.ops.aten.mkldnn_rnn_layer(*tensors, reverse, sizes, *options, False, False, True)
    grads = [draw.tensor(tuple(one.shape)) if draw.chance(0.8) else None for one in made]
    return [*tensors, *made, *grads, reverse, *options, True, False, sizes, False, workspace]


# --- sequences


@rows("_ctc_loss")
def _ctc_loss(draw: Operands) -> list[Any]:
    steps, count, classes = draw.pick([1, 4, 20]), draw.pick([1, 2, 5]), draw.pick([1, 2, 6])
    most = draw.pick([0, 1, 3, 8])
    lengths = [draw.whole(0, most) for _ in range(count)]
    shape = (sum(lengths),) if draw.chance(0.5) else (count, most)
    scores = draw.tame().tensor((steps, count, classes))
    blank = draw.whole(0, classes - 1)
    return [
        scores, draw.indices(shape, classes), [draw.whole(0, steps) for _ in range(count)], lengths, blank,
        draw.chance(0.5),
    ]  # fmt: skip


@rows("_ctc_loss_backward")
def _ctc_loss_backward(draw: Operands) -> list[Any]:
    args, _ = _ctc_loss(draw)
    scores = args[0]
    loss, alpha = mt.ops.aten._ctc_loss(*args)
    return [draw.tensor((scores.shape[1],)), *args[:4], loss, alpha, *args[4:]]
