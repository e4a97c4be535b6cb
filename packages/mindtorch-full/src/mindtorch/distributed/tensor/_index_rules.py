"""How selections by indices keep tensors spread: along the dimensions that they do not touch."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed.tensor._choices import Answer
from mindtorch.distributed.tensor._rules import COMMUTING, Call, R, along, broadcast, replicate_all, rule
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Shard
from mindtorch.tensor.tensor import Tensor


def _terms(call: Call, kinds: tuple[str, ...]) -> list[Partial]:
    """Return the terms that the first tensor is, if an op may be applied to each."""
    own = call.placements[0]
    return [own] if isinstance(own, Partial) and own.reduce_op in kinds else []


@rule("gather")
def _gather(call: Call) -> Answer:
    shape, places = call.shapes
    dim = call.argument(1, "dim") % max(len(shape), 1)
    free = [d for d in range(len(shape)) if d != dim and shape[d] == places[d]]
    choices: list[Answer] = [([Shard(d), Shard(d)], Shard(d)) for d in free]
    if shape:
        choices.append(([R, Shard(dim)], Shard(dim)))
    return call.cheapest(choices)


@rule("scatter", "scatter_add", "scatter_reduce")
def _scatter(call: Call) -> Answer:
    shape = call.shapes[0]
    dim, count = call.argument(1, "dim") % max(len(shape), 1), len(call.placements)
    free = [d for d in range(len(shape)) if d != dim and len({given[d] for given in call.shapes if given}) == 1]
    # A value that is a tensor without dimensions is the same everywhere.
    return call.cheapest([([Shard(d) if given else R for given in call.shapes], Shard(d)) for d in free if count > 1])


@rule("index_select")
def _index_select(call: Call) -> Answer:
    rank, dim = len(call.shapes[0]), call.argument(1, "dim") % max(len(call.shapes[0]), 1)
    choices: list[Answer] = [([p, R], p) for p in _terms(call, ("sum", "avg", "max", "min"))]
    choices += [([Shard(d), R], Shard(d)) for d in range(rank) if d != dim]
    if len(call.shapes[1]) == 1:
        choices.append(([R, Shard(0)], Shard(dim)))
    return call.cheapest(_of_placed(call, choices))


@rule("index_add")
def _index_add(call: Call) -> Answer:
    rank, dim = len(call.shapes[0]), call.argument(1, "dim") % max(len(call.shapes[0]), 1)
    choices: list[Answer] = [([Shard(d), R, Shard(d)], Shard(d)) for d in range(rank) if d != dim]
    terms = next((p for p in (call.placements[0], call.placements[-1]) if p in (Partial(), Partial("avg"))), None)
    return call.cheapest(_of_placed(call, choices) + ([([terms, R, terms], terms)] if terms else []))


def _of_placed(call: Call, choices: list[Answer]) -> list[Answer]:
    """Return the choices that leave a tensor as it is: the others move all."""
    return [
        one for one in choices if any(p == need and p != R for p, need in zip(call.placements, one[0], strict=True))
    ]


class _Selection:
    """Which dimensions a list of indices touches, and where the dimensions of the result come from."""

    def __init__(self, call: Call) -> None:
        self.places: list[Any] = list(call.argument(1, "indices"))
        self.touched = [dim for dim, place in enumerate(self.places) if place is not None]
        tensors = [place for place in self.places if isinstance(place, Tensor)]
        self.shape = broadcast([tuple(place.shape) for place in tensors]) if tensors else ()
        self.by_integers = bool(tensors) and all(not _is_mask(place) for place in tensors)
        together = self.touched == list(range(self.touched[0], self.touched[-1] + 1)) if self.touched else False
        self.first = self.touched[0] if together else 0

    def free(self, rank: int) -> list[tuple[int, int]]:
        """Return the dimensions that are not touched, with where they are in the result."""
        kept = [dim for dim in range(rank) if dim not in self.touched]
        return [(dim, place + len(self.shape) * (place >= self.first)) for place, dim in enumerate(kept)]


def _is_mask(place: Tensor) -> bool:
    return not place.dtype.is_floating_point and place.dtype.itemsize == 1


@rule("index", "_index_integer")
def _index(call: Call) -> Answer:
    selection, count = _Selection(call), len(call.placements) - 1
    if not selection.by_integers:
        return replicate_all(call)
    choices: list[Answer] = [([p, *[R] * count], p) for p in _terms(call, ("sum", "avg"))]
    choices += [([Shard(dim), *[R] * count], Shard(out)) for dim, out in selection.free(len(call.shapes[0]))]
    for dim in range(len(selection.shape)):
        cut: list[Placement] = [along(shape, selection.shape, dim) for shape in call.shapes[1:]]
        choices.append(([R, *cut], Shard(selection.first + dim)))
    return call.cheapest(_of_placed(call, choices))


@rule("index_put", "index_put_", "_index_put_impl_")
def _index_put(call: Call) -> Answer:
    selection, own = _Selection(call), call.placements[0]
    count = len(call.placements) - 2
    if not selection.by_integers or (call.name.endswith("_") and not isinstance(own, Shard)):
        return replicate_all(call)
    free = selection.free(len(call.shapes[0]))
    region = [0] * (len(free) + len(selection.shape))
    for dim, out in free:
        region[out] = call.shapes[0][dim]
    for at, size in enumerate(selection.shape):
        region[selection.first + at] = size
    values = call.shapes[-1]
    choices: list[Answer] = [([p, *[R] * count, p], p) for p in _terms(call, ("sum", "avg"))]
    choices += [([Shard(dim), *[R] * count, along(values, region, out)], Shard(dim)) for dim, out in free]
    return call.cheapest(_of_placed(call, choices))


@rule("bucketize", "searchsorted")
def _buckets(call: Call) -> Answer:
    own, limits = call.placements[0], call.placements[1:]
    if call.name == "searchsorted" or not isinstance(own, Shard):
        return replicate_all(call)
    return [own, *[R] * len(limits)], own


@rule("cat")
def _cat(call: Call) -> Answer:
    dim = call.argument(1, "dim", 0) % max(map(len, call.shapes))
    count, alike = len(call.placements), len(set(map(len, call.shapes))) == 1
    cut = [p for p in call.placements if isinstance(p, Shard) and p.dim != dim]
    terms = [p for p in call.placements if isinstance(p, Partial) and p.reduce_op in COMMUTING]
    return call.cheapest([([p] * count, p) for p in (*cut, *terms)] if alike else [])
