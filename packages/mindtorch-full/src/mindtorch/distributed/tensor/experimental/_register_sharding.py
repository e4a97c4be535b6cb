"""`register_sharding`: a program tells how its operator keeps tensors spread."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.tensor._rules import REGISTERED, Answer, Call
from mindtorch.distributed.tensor.placement_types import Replicate, Shard

__all__ = ["register_sharding"]

Choice = tuple[Sequence[Any], Sequence[Any]]


def register_sharding(op: Any) -> Callable[[Callable[..., Sequence[Choice]]], Callable[..., Sequence[Choice]]]:
    """Return a decorator for the function that lists, from an operator's arguments, how they may lie.

    Of a list of pairs, the placements of the results and those of the arguments (None for one that is no tensor), the
    pair is taken that moves the fewest elements. `op` is an overload or a list of overloads.
    """
    overloads = op if isinstance(op, list) else [op]

    def register(function: Callable[..., Sequence[Choice]]) -> Callable[..., Sequence[Choice]]:
        def rule(call: Call) -> Answer:
            return _cheapest(function(*call.args, **call.kwargs), call)

        for overload in overloads:
            REGISTERED[overload] = rule
        return function

    return register


def _cheapest(choices: Sequence[Choice], call: Call) -> Answer:
    best: tuple[float, Answer] | None = None
    for outputs, inputs in choices:
        needs = [placement for placement in inputs if placement is not None]
        if len(needs) != len(call.placements):
            raise RuntimeError(
                f"register_sharding: {len(needs)} placements are given for {len(call.placements)} tensors of {call.name}"
            )
        cost = sum(map(_cost, call.shapes, call.placements, needs, [call.ways] * len(needs)))
        if best is None or cost < best[0]:
            best = cost, (needs, list(outputs))
    if best is None or math.isinf(best[0]):
        return [Replicate()] * len(call.placements), Replicate()
    return best[1]


def _cost(shape: Sequence[int], placement: Any, need: Any, ways: int) -> float:
    """How many elements move; infinity where a dimension is too short to be cut."""
    if isinstance(need, Shard) and (need.dim >= len(shape) or shape[need.dim] < ways):
        return math.inf
    if placement == need or isinstance(placement, Replicate):
        return 0.0
    return float(math.prod(shape))


adopt(globals())
