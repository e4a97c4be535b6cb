"""The samplers of grids composed of differentiable ops: slower than the kernels, for derivatives of any order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.dtype import int64

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
Tap = tuple[list[Any], Any]
"""Positions per dimension, and the weight of what is there."""


def sample(input: Tensor, grid: Tensor, mode: int, padding: int, align: bool) -> Any:
    """Return what `grid_sampler_2d` and `grid_sampler_3d` return."""
    spatial = list(input.shape)[2:]
    batch, channels = list(input.shape)[:2]
    points = aten.reshape(grid, [batch, -1, len(spatial)])
    places = [_place(aten.select(points, 2, -1 - at), extent, align) for at, extent in enumerate(spatial)]
    if mode == BICUBIC:
        taps = _cubic(places, spatial, padding, align)
    else:
        places = [_padded(place, extent, padding, align) for place, extent in zip(places, spatial, strict=True)]
        taps = _linear(places) if mode == BILINEAR else iter([(_whole(places, aten.round), aten.ones_like(places[0]))])
    flat = aten.reshape(input, [batch, channels, -1])
    total: Any = None
    for index, weight in taps:
        position, inside = _lookup(index, spatial)
        position = aten.expand(aten.unsqueeze(position, 1), [batch, channels, position.shape[1]])
        part = aten.gather(flat, 2, position) * aten.unsqueeze(weight * inside, 1)
        total = part if total is None else total + part
    return aten.reshape(total, [batch, channels, *list(grid.shape)[1:-1]])


def _place(coordinate: Tensor, extent: int, align: bool) -> Any:
    """Return where coordinates in [-1, 1] lie in the input."""
    return (coordinate + 1) / 2 * (extent - 1) if align else ((coordinate + 1) * extent - 1) / 2


def _padded(place: Tensor, extent: int, padding: int, align: bool) -> Any:
    """Return places brought into the input as `padding` says; piecewise they move as fast as before, or not at all."""
    if padding == ZEROS:
        return place
    with mode_set(grad=False):
        start = aten.detach(place)
        value, factor = _reflected(start, extent, align) if padding == REFLECTION else (start, aten.ones_like(start))
        moving = aten.logical_and(aten.gt(value, 0), aten.lt(value, extent - 1))
        factor = aten.where(moving, factor, aten.zeros_like(factor))
        value = aten.clamp(aten.nan_to_num(value, 0.0), 0, extent - 1)
    return value + factor * (place - start)


def _reflected(place: Tensor, extent: int, align: bool) -> tuple[Any, Any]:
    """Return places reflected at the borders, and the sign with which they move."""
    low, high = (0, 2 * (extent - 1)) if align else (-1, 2 * extent - 1)
    if low == high:
        return aten.zeros_like(place), aten.zeros_like(place)
    begin, span = low / 2, (high - low) / 2
    away = place - begin
    sign = aten.where(aten.lt(away, 0), -1.0, 1.0).to(place.dtype)
    away = aten.abs(away)
    extra = aten.fmod(away, span)
    even = aten.eq(aten.remainder(aten.floor(away / span), 2), 0)
    return aten.where(even, extra + begin, span - extra + begin), aten.where(even, sign, -sign)


def _whole(places: Sequence[Any], rounding: Any) -> list[Any]:
    with mode_set(grad=False):
        return [rounding(aten.detach(place)).to(int64) for place in places]


def _linear(places: Sequence[Any]) -> Iterator[Tap]:
    """Yield the corners of the cells around the points."""
    bases = _whole(places, aten.floor)
    shares = [place - base for place, base in zip(places, bases, strict=True)]
    for corner in itertools.product((0, 1), repeat=len(bases)):
        weight: Any = 1
        for share, bit in zip(shares, corner, strict=True):
            weight = weight * (share if bit else 1 - share)
        yield [base + bit for base, bit in zip(bases, corner, strict=True)], weight


def _cubic(places: Sequence[Any], spatial: Sequence[int], padding: int, align: bool) -> Iterator[Tap]:
    """Yield the sixteen neighbours of the points."""
    bases = _whole(places, aten.floor)
    weights = [_cubic_weights(place - base) for place, base in zip(places, bases, strict=True)]
    for taps in itertools.product(range(4), repeat=len(bases)):
        index = []
        for base, tap, extent, place in zip(bases, taps, spatial, places, strict=True):
            neighbour = (base + (tap - 1)).to(place.dtype)
            index += _whole([_padded(neighbour, extent, padding, align)], aten.round)
        weight: Any = 1
        for each, tap in zip(weights, taps, strict=True):
            weight = weight * each[tap]
        yield index, weight


def _cubic_weights(share: Tensor) -> list[Any]:
    a = -0.75

    def far(x: Tensor) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    def near(x: Tensor) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    return [far(share + 1), near(share), near(1 - share), far(2 - share)]


def _lookup(index: Sequence[Any], spatial: Sequence[int]) -> tuple[Any, Any]:
    """Return flat positions (of the nearest border where outside) and which of them are inside."""
    inside: Any = True
    flat: Any = 0
    for at, extent in zip(index, spatial, strict=True):
        inside = aten.logical_and(aten.ge(at, 0), aten.lt(at, extent)) & inside
        flat = flat * extent + aten.clamp(at, 0, extent - 1)
    return flat, inside
