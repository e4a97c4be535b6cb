"""Of several ways to compute an op on parts, the one that moves least.

A choice is the placements that the tensor arguments need, and that of the output or of each output. What a move costs is
counted in microseconds of a network whose latency matters more than its bandwidth, as small parts are many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard

Answer = tuple[list[Any], Any]
_LATENCY, _HOP = 7.0, 0.6
_BYTES_PER_MICROSECOND = 90_000.0
_ELEMENT = 4
"""Bytes that an element is counted with: choices differ in what moves, hardly in its dtype."""


def cost(shape: Sequence[int], placement: Placement, need: Placement, ways: int) -> float:
    """Return what bringing a tensor from one placement to another costs; infinity for what cannot be."""
    if placement == need:
        return 0.0
    if isinstance(need, Shard) and need.dim >= len(shape):
        return math.inf
    if isinstance(placement, Replicate):
        return 0.0
    if isinstance(need, Shard) and shape[need.dim] < ways:
        return math.inf
    if isinstance(need, Partial):
        return math.inf
    moved = math.prod(shape) * _ELEMENT
    if isinstance(placement, Partial):
        return _collective(moved, ways - 1 if isinstance(need, Shard) else 2 * ways - 1, ways)
    gathered = _collective(moved, ways - 1, ways)
    return gathered + 1.0 if isinstance(need, Shard) else gathered


def _collective(moved: float, hops: int, ways: int) -> float:
    return _LATENCY + hops * (_HOP + moved / ways / _BYTES_PER_MICROSECOND)


def cheapest(
    shapes: Sequence[Sequence[int]], placements: Sequence[Placement], ways: int, choices: Iterable[Answer]
) -> Answer:
    """Return the choice that moves least, the first of several; whole tensors are always one."""
    whole: Answer = ([Replicate()] * len(placements), Replicate())
    best, least = whole, math.inf
    for choice in (whole, *choices):
        total = sum(cost(*one, ways) for one in zip(shapes, placements, choice[0], strict=True))
        if total < least:
            best, least = choice, total
    return best
