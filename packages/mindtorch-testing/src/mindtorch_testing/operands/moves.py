"""Arguments of what makes, draws, moves and chooses elements."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as mt
from mindtorch_testing.operands.draw import Operands
from mindtorch_testing.operands.recipes import at_least, generator, rows


def _dtype(draw: Operands) -> dict[str, Any]:
    return {"dtype": getattr(mt, draw.dtype)} if draw.chance(0.7) else {}


def _size(draw: Operands) -> list[int]:
    return list(draw.shape)


# --- made and drawn

rows("zeros ones rand randn")(lambda d: ([_size(d)], _dtype(d)))
rows("new_zeros new_ones")(lambda d: [d.tensor(), _size(d)])
rows("full")(lambda d: ([_size(d), d.number()], _dtype(d)))
rows("new_full")(lambda d: [d.tensor(), _size(d), d.number()])
rows("rand.generator randn.generator")(lambda d: ([_size(d)], {"generator": generator(d), **_dtype(d)}))
rows("rand_like randn_like bernoulli random_ exponential_ uniform_ normal_")(lambda d: [d.tensor(unit=True)])
rows("rand_like.generator randn_like.generator")(lambda d: ([d.tensor()], {"generator": generator(d)}))
rows("normal.float_float")(lambda d: ([d.number(), abs(float(d.number())), _size(d)], _dtype(d)))
rows("bernoulli_.float bernoulli.p")(lambda d: [d.tensor(), d.pick([0.0, 0.3, 1.0, 1.5])])
rows("bernoulli_.Tensor bernoulli.Tensor")(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape), unit=True)])
rows("randint")(lambda d: ([d.whole(0, 300), _size(d)], _dtype(d)))
rows("randint.low")(lambda d: ([d.whole(-9, 9), d.whole(0, 300), _size(d)], _dtype(d)))
rows("randint.generator")(lambda d: ([d.whole(0, 300), _size(d)], {"generator": generator(d), **_dtype(d)}))
rows("randint.low_generator")(
    lambda d: ([d.whole(-9, 9), d.whole(0, 300), _size(d)], {"generator": generator(d), **_dtype(d)})
)
rows("randint_like random_.to")(lambda d: [d.tensor(), d.whole(0, 120)])
rows("randint_like.low_dtype")(lambda d: [d.tensor(), d.whole(-9, 9), d.whole(0, 120)])
rows("randint_like.generator")(lambda d: ([d.tensor(), d.whole(0, 120)], {"generator": generator(d)}))
rows("randperm")(lambda d: ([d.whole(0, 70)], _dtype(d)))
rows("randperm.generator")(lambda d: ([d.whole(0, 70)], {"generator": generator(d), **_dtype(d)}))
rows("multinomial")(lambda d: [d.tensor(at_least(d, 1)[-2:], unit=True), d.whole(0, at_least(d, 1)[-1]), d.chance(0.5)])
rows("arange")(lambda d: ([d.pick([d.whole(-2, 90), d.number()])], _dtype(d)))
rows("arange.start")(lambda d: ([d.whole(-9, 9), d.whole(-9, 90)], _dtype(d)))
rows("arange.start_step")(lambda d: ([d.whole(-9, 9), d.whole(-9, 90), d.pick([1, 2, 0.3, -1, 0])], _dtype(d)))
rows("fill_.Tensor")(lambda d: [d.tensor(), d.tensor(())])

# --- moved

rows("_to_copy")(
    lambda d: ([d.tensor()], {"dtype": getattr(mt, d.pick(["float32", "float64", "bfloat16", "int64", "bool"]))})
)
rows("flip")(lambda d: [d.tensor(), d.dims(len(d.shape))])
rows("tril triu")(lambda d: [d.tensor(at_least(d, 2)), d.whole(-5, 5)])
rows("repeat")(lambda d: [d.tensor(), [d.whole(0, 3) for _ in range(len(d.shape) + d.whole(0, 1))]])
rows("masked_select")(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape), "bool")])
rows("nonzero")(lambda d: [d.tensor()])
rows("linspace")(lambda d: [d.pick([0, -3, 0.1, 1e30, math.inf]), d.pick([1, 7.5, -1e-3]), d.pick([0, 1, 2, 9, 40000])])
rows("tril_indices triu_indices")(lambda d: [d.whole(0, 9), d.whole(0, 9), d.whole(-11, 11)])
rows("bincount")(lambda d: [d.indices((d.pick([0, 1, 8, 301]),), d.pick([1, 40, 5000])), None, d.pick([0, 3, 70])])


@rows("cat")
def _cat(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    dim = draw.whole(0, len(shape) - 1)
    shapes = [(*shape[:dim], draw.whole(0, 9), *shape[dim + 1 :]) for _ in range(draw.whole(1, 5))]
    return [[draw.tensor(each) for each in shapes], draw.pick([dim, dim - len(shape)])]


@rows("roll")
def _roll(draw: Operands) -> list[Any]:
    dims = draw.dims(len(draw.shape))
    return [draw.tensor(), [draw.whole(-9, 9) for _ in dims] or [draw.whole(-9, 9)], dims]


@rows("select_backward")
def _select_backward(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    dim = draw.whole(0, len(shape) - 1)
    index = draw.whole(-shape[dim], shape[dim] - 1) if not draw.chance(0.05) else shape[dim]
    return [draw.tensor((*shape[:dim], *shape[dim + 1 :])), list(shape), dim, index]


@rows("slice_backward")
def _slice_backward(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    dim = draw.whole(0, len(shape) - 1)
    step = draw.whole(1, 3)
    start = draw.whole(0, shape[dim])
    end = draw.whole(start, shape[dim])
    kept = (end - start + step - 1) // step
    return [draw.tensor((*shape[:dim], kept, *shape[dim + 1 :])), list(shape), dim, start, end, step]


@rows("constant_pad_nd")
def _pad(draw: Operands) -> list[Any]:
    pads = [draw.whole(-1, 3) for _ in range(2 * draw.whole(0, min(3, len(draw.shape))))]
    return [draw.tensor(), pads, draw.number()]


def _frame(draw: Operands, dims: int) -> tuple[Any, list[int]]:
    """Return what is padded, and by how much: fewer places than it has."""
    extents = [draw.pick([2, 3, 5, 17]) for _ in range(dims)]
    shape = (*(draw.whole(1, 3) for _ in "nc"), *extents)
    pads = [draw.whole(-1 if extent > 2 else 0, min(extent - 1, 3)) for extent in reversed(extents) for _ in "ab"]
    return draw.tensor(shape[1:] if draw.chance(0.2) else shape), pads


def _frame_backward(draw: Operands, dims: int) -> list[Any]:
    given, pads = _frame(draw, dims)
    kept = given.dim() - dims
    size = [
        extent + pads[2 * (dims - 1 - at)] + pads[2 * (dims - 1 - at) + 1]
        for at, extent in enumerate(given.shape[kept:])
    ]
    return [draw.tensor((*given.shape[:kept], *size)), given, pads]


for _dims in (1, 2, 3):
    for _mode in ("reflection", "replication"):
        rows(f"{_mode}_pad{_dims}d")(lambda draw, dims=_dims: list(_frame(draw, dims)))
        rows(f"{_mode}_pad{_dims}d_backward")(lambda draw, dims=_dims: _frame_backward(draw, dims))


# --- chosen by indices


def _place(draw: Operands) -> tuple[tuple[int, ...], int]:
    shape = at_least(draw, 1)
    return shape, draw.whole(0, len(shape) - 1)


@rows("index_select")
def _index_select(draw: Operands) -> list[Any]:
    shape, dim = _place(draw)
    return [draw.tensor(shape), dim, draw.indices((draw.pick([0, 1, 7, 33]),), shape[dim])]


@rows("index_add")
def _index_add(draw: Operands) -> Any:
    shape, dim = _place(draw)
    count = draw.pick([0, 1, 7, 33])
    source = draw.tensor((*shape[:dim], count, *shape[dim + 1 :]), draw.dtype)
    return [draw.tensor(shape, draw.dtype), dim, draw.indices((count,), shape[dim]), source], {
        "alpha": draw.pick([1, 1, 2])
    }


@rows("take")
def _take(draw: Operands) -> list[Any]:
    shape = draw.shape
    size = 1
    for extent in shape:
        size *= extent
    return [draw.tensor(), draw.indices(draw.draw_shape(), size)]


def _smaller(draw: Operands, shape: tuple[int, ...], dim: int) -> tuple[int, ...]:
    kept = [extent if draw.chance(0.7) else draw.whole(0, extent) for extent in shape]
    kept[dim] = draw.whole(0, shape[dim] + 2) if draw.chance(0.5) else kept[dim]
    return tuple(kept)


@rows("gather")
def _gather(draw: Operands) -> list[Any]:
    shape, dim = _place(draw)
    return [draw.tensor(shape), dim, draw.indices(_smaller(draw, shape, dim), shape[dim])]


@rows("scatter.src scatter_add")
def _scatter(draw: Operands) -> list[Any]:
    shape, dim = _place(draw)
    size = _smaller(draw, shape, dim)
    source = tuple(extent + (draw.whole(0, 2) if draw.chance(0.3) else 0) for extent in size)
    return [draw.tensor(shape, draw.dtype), dim, draw.indices(size, shape[dim]), draw.tensor(source, draw.dtype)]


@rows("scatter.value")
def _scatter_value(draw: Operands) -> list[Any]:
    (given, dim, indices, _), _ = _scatter(draw)
    return [given, dim, indices, draw.number()]


@rows("scatter_reduce.two")
def _scatter_reduce(draw: Operands) -> list[Any]:
    draw.tame()
    return [*_scatter(draw)[0], draw.pick(["sum", "prod", "mean", "amax", "amin"]), draw.chance(0.5)]


def _subscripts(draw: Operands, shape: tuple[int, ...]) -> tuple[list[Any], tuple[int, ...]]:
    """Return index tensors for leading dimensions, some left out, and the shape of what they choose."""
    taken = draw.draw_shape(draw.whole(0, 2))
    count = draw.whole(1, min(3, len(shape)))
    found = [draw.indices(draw.broadcast(taken), shape[dim]) if draw.chance(0.8) else None for dim in range(count)]
    return found, (*taken, *shape[count:])


@rows("_index_integer")
def _index(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    return [draw.tensor(shape), _subscripts(draw, shape)[0]]


@rows("_index_masked")
def _index_masked(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    return [draw.tensor(shape), [draw.tensor(shape[: draw.whole(1, len(shape))], "bool")]]


@rows("index_put")
def _index_put(draw: Operands) -> list[Any]:
    shape = at_least(draw, 1)
    indices, chosen = _subscripts(draw, shape)
    return [draw.tensor(shape, draw.dtype), indices, draw.tensor(draw.broadcast(chosen), draw.dtype), draw.chance(0.5)]


# --- embeddings


@rows("embedding")
def _embedding(draw: Operands) -> list[Any]:
    count, width = draw.pick([1, 5, 40]), draw.pick([1, 7, 16, 33])
    return [draw.tensor((count, width)), draw.indices(draw.draw_shape(), count), draw.pick([-1, 0])]


@rows("embedding_dense_backward")
def _embedding_backward(draw: Operands) -> list[Any]:
    count, width = draw.pick([1, 5, 40]), draw.pick([1, 7, 16, 33])
    shape = draw.draw_shape(draw.whole(0, 2))
    indices = draw.indices(shape, count)
    return [draw.tensor((*shape, width)), indices, count, draw.pick([-1, 0]), draw.chance(0.3)]


@rows("_embedding_bag _embedding_bag_forward_only")
def _embedding_bag(draw: Operands) -> list[Any]:
    count, width, length = draw.pick([1, 5, 40]), draw.pick([1, 7, 16, 33]), draw.pick([0, 1, 9, 33])
    starts = sorted(draw.whole(0, length) for _ in range(draw.pick([0, 2, 6])))
    offsets = mt.tensor([0, *starts], dtype=mt.int64)
    mode = draw.whole(0, 2)
    weights = draw.tensor((length,)) if mode == 0 and draw.chance(0.4) else None
    return [
        draw.tensor((count, width)), draw.indices((length,), count), offsets, draw.chance(0.2), mode, False, weights,
        draw.chance(0.3), draw.pick([-1, 0]),
    ]  # fmt: skip


@rows("_embedding_bag_dense_backward")
def _embedding_bag_backward(draw: Operands) -> list[Any]:
    (weight, indices, offsets, scale, mode, _, samples, _, padding), _ = _embedding_bag(draw)
    count, length = len(offsets), len(indices)
    bags = mt.tensor(sorted(draw.whole(0, count - 1) for _ in range(length)), dtype=mt.int64)
    sizes = mt.bincount(bags, minlength=count)
    winners = draw.indices((count, weight.shape[1]), weight.shape[0]) if mode == 2 else sizes
    grad = draw.tensor((count, weight.shape[1]), str(weight.dtype).partition(".")[2])
    return [grad, indices, bags, sizes, winners, weight.shape[0], scale, mode, samples, padding]
