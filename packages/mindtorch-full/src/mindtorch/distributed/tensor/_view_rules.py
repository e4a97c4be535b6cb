"""Views of tensors that are spread: to which dimension of the view a dimension goes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mindtorch.distributed.tensor._rules import Answer, Call, R, pointwise, rule
from mindtorch.distributed.tensor.placement_types import Partial, Shard

SIZED = {
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "new_full"), "size"),
    "view": "size",
    "_unsafe_view": "size",
    "reshape": "shape",
    "expand": "size",
}
"""Ops whose second argument is the shape of the result."""


def resolve_shape(name: str, shape: Sequence[int], given: Sequence[int]) -> tuple[int, ...]:
    """Fill in what a shape leaves open."""
    if name == "expand":
        lead = len(given) - len(shape)
        return tuple(shape[i - lead] if n == -1 else n for i, n in enumerate(given))
    if -1 in given:
        known = math.prod(n for n in given if n != -1)
        return tuple(math.prod(shape) // known if n == -1 else n for n in given)
    return tuple(given)


def groups(shape: Sequence[int], out: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Pair the runs of dimensions of two shapes that hold the same elements."""
    found, i, j = [], 0, 0
    while i < len(shape) or j < len(out):
        left: list[int] = []
        right: list[int] = []
        a = b = 1
        while True:
            if a <= b and i < len(shape) and (a < b or not left or not right):
                left.append(i)
                a *= shape[i]
                i += 1
            elif j < len(out) and (b < a or not right):
                right.append(j)
                b *= out[j]
                j += 1
            else:
                break
            if a == b and left and right:
                break
        if not left and not right:
            break
        found.append((left, right))
    return found


def _follow(call: Call, target: int | None) -> Answer:
    """Keep the shards when their dimension goes somewhere, else gather them."""
    if target is None:
        return [R], R
    return [call.placements[0]], Shard(target)


def _whole(call: Call) -> Answer | None:
    own = call.placements[0]
    return None if isinstance(own, Shard) else ([own], own)


@rule("view", "_unsafe_view", "reshape")
def _view(call: Call) -> Answer:
    plain = _whole(call)
    if plain:
        return plain
    shape, dim = call.shapes[0], call.placements[0].dim
    out = resolve_shape(call.name, shape, call.argument(1, SIZED[call.name]))
    if math.prod(shape) == 0:
        return [R], R
    for left, right in groups(shape, out):
        if dim in left:
            first = [i for i in left if shape[i] != 1 or i == dim]
            target = [j for j in right if out[j] != 1]
            if first[0] == dim and target:
                even = shape[dim] % call.ways == 0 and out[target[0]] % call.ways == 0
                same = len(left) == len(right) == 1
                return _follow(call, target[0] if even or same else None)
    return [R], R


@rule("expand")
def _expand(call: Call) -> Answer:
    plain = _whole(call)
    if plain:
        return plain
    shape, dim = call.shapes[0], call.placements[0].dim
    out = resolve_shape("expand", shape, call.argument(1, "size"))
    target = dim + len(out) - len(shape)
    return _follow(call, target if out[target] == shape[dim] else None)


@rule("unbind")
def _unbind(call: Call) -> Answer:
    plain = _whole(call)
    if plain:
        return plain
    own, dim = call.placements[0].dim, call.argument(1, "dim", 0) % len(call.shapes[0])
    return _follow(call, None if own == dim else own - (dim < own))


@rule("repeat")
def _repeat(call: Call) -> Answer:
    plain = _whole(call)
    if plain:
        return plain
    times, own = call.argument(1, "repeats"), call.placements[0].dim
    target = own + len(times) - len(call.shapes[0])
    return _follow(call, target if times[target] == 1 else None)


@rule("constant_pad_nd")
def _pad(call: Call) -> Answer:
    own, pad, rank = call.placements[0], call.argument(1, "pad"), len(call.shapes[0])
    if isinstance(own, Shard):
        padded = {rank - 1 - at // 2 for at, size in enumerate(pad) if size}
        return _follow(call, None if own.dim in padded else own.dim)
    adds = isinstance(own, Partial) and own.reduce_op == "sum" and call.argument(2, "value", 0) != 0
    return ([R], R) if adds else ([own], own)


@rule("t", "transpose", "permute", "unsqueeze", "squeeze", "select", "slice", "split", "split_with_sizes")
def _move(call: Call) -> Answer:
    plain = _whole(call)
    if plain:
        return plain
    rank, dim, name = len(call.shapes[0]), call.placements[0].dim, call.name
    if name == "t":
        return _follow(call, rank - 1 - dim)
    if name == "permute":
        order = [d % rank for d in call.argument(1, "dims")]
        return _follow(call, order.index(dim))
    if name == "transpose":
        a, b = call.argument(1, "dim0") % rank, call.argument(2, "dim1") % rank
        return _follow(call, {a: b, b: a}.get(dim, dim))
    if name == "unsqueeze":
        return _follow(call, dim + (call.argument(1, "dim") % (rank + 1) <= dim))
    if name == "squeeze":
        given = call.argument(1, "dim")
        gone = range(rank) if given is None else [given] if isinstance(given, int) else given
        gone = [d % rank for d in gone if call.shapes[0][d] == 1]
        return _follow(call, None if dim in gone else dim - sum(d < dim for d in gone))
    position = {"select": 1, "slice": 1}.get(name, 2)
    touched = (call.argument(position, "dim", 0) or 0) % rank
    if touched == dim:
        return _follow(call, dim if name == "slice" and _takes_all(call, call.shapes[0][dim]) else None)
    return _follow(call, dim - (touched < dim) if name == "select" else dim)


def _takes_all(call: Call, size: int) -> bool:
    """Return whether a slice is the whole dimension."""
    start, end, step = call.argument(2, "start"), call.argument(3, "end"), call.argument(4, "step", 1)
    return (start or 0) == 0 and step == 1 and (end is None or end >= size)


@rule("detach", "alias", "contiguous", "lift_fresh", "_to_copy", "to")
def _same(call: Call) -> Answer:
    own = call.placements[0]
    if isinstance(own, Partial):
        return [own], own
    return pointwise(call)
