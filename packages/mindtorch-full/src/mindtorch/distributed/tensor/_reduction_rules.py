"""How reductions keep tensors spread: what is reduced becomes terms, what is not stays cut."""

from __future__ import annotations

from mindtorch.distributed.tensor._choices import Answer
from mindtorch.distributed.tensor._rules import COMMUTING, Call, R, pointwise, rule
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Shard, _NormPartial

_TERMS = {
    "sum": "sum", "nansum": "sum", "mean": "avg", "amax": "max", "amin": "min", "max": "max", "min": "min",
    "prod": "product", "all": "product", "any": "sum", "count_nonzero": "sum",
}  # fmt: skip
"""What the parts' results are terms of. Truth values are added and multiplied as such: `any` and `all` of them."""
_REDUCE_THEMSELVES = frozenset("sum nansum mean amax amin max min".split())
_EXTREMES = frozenset("max min amax amin".split())


def reduced_dims(call: Call, position: int = 1) -> set[int]:
    """Return the dimensions that are reduced: those given, or all."""
    rank, dims = len(call.shapes[0]), call.argument(position, "dim")
    given = range(rank) if dims is None or dims == [] or dims == () else [dims] if isinstance(dims, int) else dims
    return {dim % rank for dim in given} if rank else set()


def kept(own: Shard, reduced: set[int], keepdim: bool) -> Shard:
    """Return where a dimension that is not reduced is afterwards."""
    return Shard(own.dim if keepdim else own.dim - sum(dim < own.dim for dim in reduced))


def leaves_some_empty(size: int, ways: int) -> bool:
    """Return whether the last of the parts of a dimension is empty."""
    return -(-size // ways) * (ways - 1) >= size


@rule(*_TERMS)
def _reduce(call: Call) -> Answer:
    own, name = call.placements[0], call.name
    if name in ("max", "min") and len(call.shapes) == 2:
        return pointwise(call)
    if name in ("max", "min") and call.argument(1, "dim") is not None:
        return _values_and_places(call)
    if isinstance(own, Partial):
        alike = name in _REDUCE_THEMSELVES and own.reduce_op == _TERMS[name]
        return ([own], own) if alike else ([R], R)
    if not isinstance(own, Shard):
        return [own], own
    reduced, size = reduced_dims(call), call.shapes[0][own.dim]
    if own.dim not in reduced:
        return [own], kept(own, reduced, bool(call.argument(2, "keepdim", False)))
    unequal = name == "mean" and size % call.ways != 0
    if unequal or (name in _EXTREMES and leaves_some_empty(size, call.ways)):
        return [R], R
    return [own], Partial(_TERMS[name])


@rule("var", "std", "var_mean", "std_mean", "logsumexp", "argmax", "argmin", "median", "mode", "kthvalue")
def _values_and_places(call: Call) -> Answer:
    """Reduce whole dimensions: a part's result says nothing of the whole's."""
    own = call.placements[0]
    position = 2 if call.name in ("kthvalue",) else 1
    reduced = reduced_dims(call, position)
    if not isinstance(own, Shard) or own.dim in reduced:
        return [R], R
    return [own], kept(own, reduced, bool(call.argument(position + 1, "keepdim", False)))


@rule("linalg_vector_norm", "norm")
def _norm(call: Call) -> Answer:
    own = call.placements[0]
    power = call.argument(1, "ord" if call.name == "linalg_vector_norm" else "p", 2)
    power = 2 if power is None else power
    extreme = power in (float("inf"), float("-inf"))
    if not isinstance(own, Shard) or (call.name == "norm" and len(call.args) > 2):
        return [R], R
    reduced = reduced_dims(call, 2)
    if own.dim not in reduced:
        return [own], kept(own, reduced, bool(call.argument(3, "keepdim", False)))
    if extreme and leaves_some_empty(call.shapes[0][own.dim], call.ways):
        return [R], R
    return [own], _terms_of_norm(power)


def _terms_of_norm(power: float) -> Placement:
    known = {float("inf"): "max", float("-inf"): "min", 0: "sum"}
    return Partial(known[power]) if power in known else _NormPartial(power)


_DIMS = {"cumsum": (1, "dim", 0), "cumprod": (1, "dim", 0), "topk": (2, "dim", -1), "sort": (1, "dim", -1),
         "argsort": (1, "dim", -1), "flip": (1, "dims", ()), "roll": (2, "dims", ())}  # fmt: skip
"""Ops that know of some dimensions alone: where those stand among the arguments, and the default."""


@rule(*_DIMS)
def _along_dims(call: Call) -> Answer:
    own, rank = call.placements[0], len(call.shapes[0])
    dims = call.argument(*_DIMS[call.name])
    given = {dim % rank for dim in ([dims] if isinstance(dims, int) else dims)}
    if isinstance(own, Partial):
        if call.name in ("flip", "roll"):
            return [own], own
        free = [Shard(dim) for dim in range(rank) if dim not in given]
        return call.cheapest([([one], one) for one in free]) if call.name in ("topk", "sort", "argsort") else ([R], R)
    if not isinstance(own, Shard) or not given or own.dim in given:
        return [R], R
    return [own], own


@rule("glu")
def _halves(call: Call) -> Answer:
    own, rank = call.placements[0], len(call.shapes[0])
    keeps = isinstance(own, Shard) and own.dim != call.argument(1, "dim", -1) % rank
    return ([own], own) if keeps else ([R], R)


@rule("glu_backward")
def _halves_backward(call: Call) -> Answer:
    dim, rank = call.argument(2, "dim", -1), len(call.shapes[0])
    cut = [p for p in call.placements if isinstance(p, Shard) and p.dim != dim % rank]
    return call.cheapest([([one, one], one) for one in cut])


@rule("stack")
def _stack(call: Call) -> Answer:
    dim, count = call.argument(1, "dim", 0) % (len(call.shapes[0]) + 1), len(call.placements)
    cut = {p.dim for p in call.placements if isinstance(p, Shard)}
    if len(cut) == 1:
        own = cut.pop()
        return [Shard(own)] * count, Shard(own + (dim <= own))
    terms = [p for p in call.placements if isinstance(p, Partial)]
    same = terms and not cut and all(p == terms[0] and p.reduce_op in COMMUTING for p in terms)
    return ([terms[0]] * count, terms[0]) if same else ([R] * count, R)
