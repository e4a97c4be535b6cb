"""How the dimensions of a mesh lie in the order of its ranks.

A dimension has levels, each with a size and a stride, the outer one first: `((2, 4), (2, 1))` goes to the ranks at
0, 1, 4 and 5. A dimension of the mesh that everything comes from has one level; one of several dimensions together may
have more. A level of size one is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeAlias

Levels: TypeAlias = tuple[tuple[int, int], ...]


def of_shape(shape: Sequence[int]) -> tuple[Levels, ...]:
    """Return the dimensions of ranks in rows."""
    strides = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
    return tuple(((size, stride),) if size != 1 else () for size, stride in zip(shape, strides, strict=True))


def size(levels: Levels) -> int:
    """Return how many ranks lie along a dimension."""
    return math.prod(size for size, _ in levels)


def joined(dims: Sequence[Levels]) -> Levels:
    """Return one dimension of several; levels that follow each other without a gap become one."""
    found: list[tuple[int, int]] = []
    for inner, stride in itertools.chain.from_iterable(dims):
        if found and found[-1][1] == inner * stride:
            found[-1] = (found[-1][0] * inner, stride)
        else:
            found.append((inner, stride))
    return tuple(found)


def split(levels: Levels, sizes: Sequence[int]) -> tuple[Levels, ...]:
    """Return dimensions of these sizes that together are the one given. ValueError where a level does not divide so."""
    waiting, found = list(levels), []
    for wanted in reversed(sizes):
        own: list[tuple[int, int]] = []
        while wanted > 1:
            inner, stride = waiting.pop()
            taken = math.gcd(inner, wanted)
            if taken not in (inner, wanted):
                raise ValueError(f"a dimension of {levels} has no parts of sizes {tuple(sizes)}")
            own.insert(0, (taken, stride))
            if taken < inner:
                waiting.append((inner // taken, stride * taken))
            wanted //= taken
        found.append(tuple(own))
    return tuple(reversed(found))


def in_order(dims: Sequence[Levels]) -> bool:
    """Return whether every step is smaller than those of the levels before it."""
    strides = [stride for _, stride in joined(dims)]
    return strides == sorted(strides, reverse=True)


def disjoint(dims: Sequence[Levels]) -> bool:
    """Return whether no two places of the mesh have the same rank."""
    levels = sorted(joined(dims), key=lambda level: level[1])
    return all(size * stride <= outer for (size, stride), (_, outer) in itertools.pairwise(levels))


def offsets(dims: Sequence[Levels]) -> list[int]:
    """Return where the ranks lie, beginning at 0, the last dimension first."""
    levels = itertools.chain.from_iterable(dims)
    steps = [[index * stride for index in range(size)] for size, stride in levels]
    return [sum(step) for step in itertools.product(*steps)]


def parts(dims: Sequence[Levels], ranks: Sequence[int]) -> list[list[int]]:
    """Return all ranks in meshes of these dimensions, each rank once."""
    moves, left, found = offsets(dims), [True] * len(ranks), []
    for start in range(len(ranks)):
        if left[start]:
            for move in moves:
                left[start + move] = False
            found.append([ranks[start + move] for move in moves])
    return found
