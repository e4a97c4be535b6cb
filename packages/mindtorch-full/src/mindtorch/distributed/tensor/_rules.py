"""How ops keep tensors spread: for one dimension of the mesh, what the inputs must be and what the outputs then are.

A rule takes a `Call` and returns the placement that each tensor argument needs, and the placement of the output or of each
output. What no rule covers is computed on whole tensors, by `replicate_all`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mindtorch.distributed.tensor._choices import Answer, cheapest
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

R = Replicate()
RULES: dict[str, Callable[[Any], Answer]] = {}
REGISTERED: dict[Any, Callable[[Any], Answer]] = {}
"""The rules that programs gave, by overload."""

_LINEAR = frozenset("neg positive detach alias _to_copy mul div add sub lift_fresh contiguous to".split())
_RISING = frozenset(
    "positive detach alias _to_copy lift_fresh contiguous to asinh atan ceil deg2rad rad2deg erf exp exp2 expm1 floor nan_to_num "
    "relu round sgn sigmoid sign sinh tanh trunc".split()
)
_FALLING = frozenset(("neg", "erfc"))
_ORDERED = frozenset("maximum minimum fmax fmin logaddexp".split())
"""Ops that commute with a largest or smallest element: those of one operand, which may turn one into the other, and of two."""
_LIKE = frozenset("ones_like zeros_like full_like empty_like new_zeros new_ones new_empty new_full".split())


_OPPOSITE = {"max": "min", "min": "max"}
_SAME = {"max": ("maximum", "fmax"), "min": ("minimum", "fmin")}
COMMUTING = ("sum", "avg", *_OPPOSITE)
"""The terms that a joined tensor may consist of: those of a norm are no whole tensors, nothing can be spread to them."""


@dataclass
class Call:
    """An op, its arguments, and how its tensors are placed along one dimension of the mesh."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: list[tuple[int, ...]]
    placements: list[Placement]
    ways: int
    op: str = ""
    """The op with its overload, for what errors say."""

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """Return an argument given by place or by name."""
        return self.args[position] if len(self.args) > position else self.kwargs.get(name, default)

    def cheapest(self, choices: Iterable[Answer]) -> Answer:
        """Return the choice that moves least."""
        return cheapest(self.shapes, self.placements, self.ways, choices)


def rule(*names: str) -> Callable[[Callable[[Any], Answer]], Callable[[Any], Answer]]:
    """Register a rule for ops."""

    def register(function: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def replicate_all(call: Call) -> Answer:
    """Compute on whole tensors."""
    return [R] * len(call.placements), R


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """Return the shape to which all broadcast."""
    size = max(map(len, shapes))
    padded = [(1,) * (size - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((n for n in sizes if n != 1), 1) for sizes in zip(*padded, strict=True))


def along(shape: Sequence[int], out: Sequence[int], dim: int) -> Placement:
    """Return the placement of an operand whose result is sharded at `dim`."""
    own = dim - (len(out) - len(shape))
    return Shard(own) if own >= 0 and shape[own] == out[dim] else R


def pointwise(call: Call, forbidden: Sequence[int] = ()) -> Answer:
    """Elementwise ops follow operands that are spread: those of which the others can follow with the least moves."""
    out = broadcast(call.shapes)
    if call.name.endswith("_"):
        return _in_place(call, out)
    cut = zip(call.shapes, call.placements, strict=True)
    dims = {one.dim + len(out) - len(shape): shape[one.dim] for shape, one in cut if isinstance(one, Shard)}
    kept = [dim for dim, size in sorted(dims.items()) if dim not in forbidden and size == out[dim]]
    return call.cheapest(
        [([along(shape, out, dim) for shape in call.shapes], Shard(dim)) for dim in kept] + _linear(call)
    )


def _in_place(call: Call, out: Sequence[int]) -> Answer:
    """What is changed stays where it is; the others follow it."""
    own, name = call.placements[0], call.name
    if isinstance(own, Shard):
        return [along(shape, out, own.dim) for shape in call.shapes], own
    if not isinstance(own, Partial) or name in ("copy_", "zero_") or (name == "fill_" and own.reduce_op != "sum"):
        return [own] * len(call.shapes), own
    kept = [answer for answer in _linear(call) if answer[0][0] == answer[1] == own]
    if not kept:
        raise RuntimeError(
            f"{call.op}: in-place operations that require placement changes are not supported. The input has placement "
            f"({own!r},), but no valid strategy preserves this placement. Please use the out-of-place version of this "
            "operation instead."
        )
    return call.cheapest(kept)


def _linear(call: Call) -> list[Answer]:
    """Return how an op can be computed on terms of a sum, or on candidates for a largest or smallest element."""
    terms = next((p for p in call.placements if isinstance(p, Partial) and p.reduce_op in COMMUTING), None)
    count, name = len(call.placements), call.name.removesuffix("_")
    if terms is not None and terms.reduce_op in _OPPOSITE:
        return _of_candidates(terms, name, count)
    if terms is None or name not in _LINEAR or (name in ("add", "sub") and count == 1):
        return []
    if name in ("add", "sub") or count == 1:
        return [([terms] * count, terms)]
    first: list[Answer] = [([terms, *[R] * (count - 1)], terms)]
    return [*first, ([R, terms], terms)] if name == "mul" and count == 2 else first


def _of_candidates(terms: Partial, name: str, count: int) -> list[Answer]:
    """Return how an op can be computed on candidates for a largest or smallest element."""
    if count == 1:
        turned = [([terms], Partial(_OPPOSITE[terms.reduce_op]))] if name in _FALLING else []
        return [([terms], terms)] if name in _RISING else turned
    if count == 2 and name in ("add", "sub"):
        return [([terms, R], terms)]
    if count != 2 or name not in _ORDERED:
        return []
    both: list[Answer] = [([terms, terms], terms)] if name in _SAME[terms.reduce_op] else []
    return [*both, ([terms, R], terms), ([R, terms], terms)]


@rule(*_LIKE)
def _like(call: Call) -> Answer:
    own = call.placements[0]
    if call.name == "empty_like":
        return [own], own
    keeps = call.name.endswith("_like") or tuple(call.argument(1, "size")) == call.shapes[0]
    return list(call.placements), own if keeps and isinstance(own, Shard) else R


@rule("_softmax", "_log_softmax", "_safe_softmax", "softmax", "log_softmax")
def _softmax(call: Call) -> Answer:
    return pointwise(call, [call.argument(1, "dim") % len(call.shapes[0])])


@rule("_softmax_backward_data", "_log_softmax_backward_data")
def _softmax_backward(call: Call) -> Answer:
    return pointwise(call, [call.argument(2, "dim") % len(call.shapes[0])])
