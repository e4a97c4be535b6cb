"""The order in which gloo's circle of ranks reduces, so that sums of floating-point numbers are the same to the last bit.

The array has segments, as many for each rank. A rank owns the elements of its segments. Their values go around, from the
rank before the owner downwards to the owner, and each rank puts its own value first: own + received. The maximum is the
first of two values unless it is less than the second; so not-a-numbers and signs of zero depend on the order too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_distributed import engine
from mindtorch_distributed.engine import Array

_SEGMENT = 1 << 20
"""The bytes of a segment at most."""
Combine = Callable[..., Any]

_OF_NUMBERS: dict[str, Combine] = {
    engine.SUM: np.add,
    engine.PRODUCT: np.multiply,
    engine.MIN: np.minimum,
    engine.MAX: np.maximum,
    engine.BAND: np.bitwise_and,
    engine.BOR: np.bitwise_or,
    engine.BXOR: np.bitwise_xor,
}


def _greater(first: Array, second: Array, out: Array) -> Array:
    np.copyto(out, np.where(np.less(first, second), second, first))
    return out


def _lesser(first: Array, second: Array, out: Array) -> Array:
    np.copyto(out, np.where(np.less(second, first), second, first))
    return out


def depends(dtype: np.dtype[Any], reduction: str, size: int) -> bool:
    """Return whether the result depends on the order of the ranks."""
    if dtype.kind in "iub":
        return False
    return size > 2 or reduction in (engine.MIN, engine.MAX)


def combine(dtype: np.dtype[Any], reduction: str) -> Combine:
    """What makes one array of two: a function of both and of `out`, which may be either."""
    if dtype.kind not in "iub" and reduction in (engine.MIN, engine.MAX):
        return _greater if reduction == engine.MAX else _lesser
    return _OF_NUMBERS[reduction]


def owned(count: int, width: int, size: int) -> int:
    """How many elements of `width` bytes a rank owns: the last ranks less, where they do not divide."""
    total = count * width
    least = max(-(-total // (width * max(1, _SEGMENT // width))), 2 * size)
    segments = -(-least // size) * size
    length = -(-total // segments)
    return segments // size * -(-length // width)


def pieces(start: int, stop: int, own: int) -> Iterator[tuple[int, int, int]]:
    """Divide a range of elements by their owners: start, stop, owner."""
    while start < stop:
        owner = start // own
        end = min((owner + 1) * own, stop)
        yield start, end, owner
        start = end


def ranks_in_order(owner: int, size: int) -> list[int]:
    """The ranks in the order in which their values are combined."""
    return [(owner - step) % size for step in range(1, size + 1)]


def reduced(arrays: Sequence[Array], reduction: str, start: int, stop: int) -> Array:
    """Reduce a range of the arrays of all ranks."""
    size, first = len(arrays), arrays[0]
    function = combine(first.dtype, reduction)
    result = np.empty(stop - start, first.dtype)
    with np.errstate(all="ignore"):
        for low, high, owner in pieces(start, stop, owned(first.size, first.itemsize, size)):
            target = result[low - start : high - start]
            ranks = ranks_in_order(owner, size)
            target[...] = arrays[ranks[0]][low:high]
            for rank in ranks[1:]:
                function(arrays[rank][low:high], target, out=target)
    return result
