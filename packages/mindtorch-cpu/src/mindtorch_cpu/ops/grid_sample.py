"""Sampling at the points of a grid: per corner of the cell around a point, all points of a sample at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..register import kernel
from ..steps import steps
from ..weighted_sums import WeightTable
from .upsample import cubic_weights

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def _place(coordinate: Any, extent: int, align: bool) -> tuple[Any, float]:
    """Return where a coordinate in [-1, 1] lies in the input, and how fast it moves there."""
    if align:
        return (coordinate + 1) / 2 * (extent - 1), (extent - 1) / 2
    return ((coordinate + 1) * extent - 1) / 2, extent / 2


def _reflected(place: Any, extent: int, align: bool) -> tuple[Any, Any]:
    """Return places reflected at the borders, and the sign with which they move."""
    low, high = (0, 2 * (extent - 1)) if align else (-1, 2 * extent - 1)
    if low == high:
        return np.zeros_like(place), np.zeros_like(place)
    begin, span = low / 2, (high - low) / 2
    away = place - begin
    sign = np.where(away < 0, -1, 1).astype(place.dtype)
    away = np.abs(away)
    extra, flips = np.fmod(away, span), np.floor(away / span)
    even = flips % 2 == 0
    result = np.where(even, extra + begin, span - extra + begin)
    return result.astype(place.dtype), np.where(even, sign, -sign)


def _padded(place: Any, extent: int, padding: int, align: bool) -> tuple[Any, Any]:
    """Return places brought into the input as `padding` says, and the factor of their gradient."""
    factor: Any = np.ones_like(place)
    if padding == REFLECTION:
        place, factor = _reflected(place, extent, align)
    if padding != ZEROS:
        factor = np.where((place <= 0) | (place >= extent - 1), 0, factor)
        place = np.clip(np.nan_to_num(place, nan=0.0), 0, extent - 1)
    return np.nan_to_num(place, nan=-100.0, posinf=-100.0, neginf=-100.0), factor


class Points:
    """The points of one sample in the input's coordinates, dimensions in memory order (y before x)."""

    def __init__(self, grid: Any, spatial: Sequence[int], padding: int, align: bool, raw: bool = False) -> None:
        self.spatial = spatial
        self.places: list[Any] = []
        self.factors: list[Any] = []
        dims = len(spatial)
        for at in range(dims):
            place, speed = _place(grid[..., dims - 1 - at].reshape(-1), spatial[at], align)
            factor: Any = 1
            if not raw:
                place, factor = _padded(place, spatial[at], padding, align)
            self.places.append(place)
            self.factors.append(factor * speed)


def _lookup(index: Sequence[Any], spatial: Sequence[int]) -> tuple[Any, Any]:
    """Return flat positions (0 where outside) and which of them are inside."""
    inside: Any = True
    flat: Any = 0
    for at, extent in zip(index, spatial, strict=True):
        inside = inside & (at >= 0) & (at < extent)
        flat = flat * extent + np.clip(at, 0, extent - 1)
    return flat, inside


def _corners(points: Points) -> Iterator[tuple[Any, Any, Any, list[Any]]]:
    """Yield per corner of the cells: positions, which are inside, weights, the weights' slopes per dimension."""
    bases = [np.floor(place).astype(np.int64) for place in points.places]
    shares = [place - base for place, base in zip(points.places, bases, strict=True)]
    for corner in itertools.product((0, 1), repeat=len(bases)):
        flat, inside = _lookup([base + bit for base, bit in zip(bases, corner, strict=True)], points.spatial)
        each = [share if bit else 1 - share for share, bit in zip(shares, corner, strict=True)]
        weight: Any = 1
        for one in each:
            weight = weight * one
        slopes = []
        for dim, bit in enumerate(corner):
            slope: Any = 1 if bit else -1
            for other, one in enumerate(each):
                if other != dim:
                    slope = slope * one
            slopes.append(slope)
        yield flat, inside, weight, slopes


def _cubic_slopes(share: Any) -> Any:
    a = -0.75

    def far(x: Any) -> Any:
        return (3 * a * x - 10 * a) * x + 8 * a

    def near(x: Any) -> Any:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    return np.stack([far(share + 1), near(share), -near(1 - share), -far(2 - share)], -1).astype(share.dtype)


def _cubic_weights(points: Points, padding: int, align: bool) -> Iterator[tuple[Any, Any, Any, list[Any]]]:
    """As `_corners`, for the sixteen neighbours of bicubic interpolation."""
    bases = [np.floor(np.nan_to_num(place)) for place in points.places]
    shares = [(place - base).astype(place.dtype) for place, base in zip(points.places, bases, strict=True)]
    weights, slopes = [cubic_weights(share) for share in shares], [_cubic_slopes(share) for share in shares]
    for row, column in itertools.product(range(4), repeat=2):
        index = [
            np.rint(_padded(base + (element - 1), extent, padding, align)[0]).astype(np.int64)
            for base, element, extent in zip(bases, (row, column), points.spatial, strict=True)
        ]
        flat, inside = _lookup(index, points.spatial)
        pair = (weights[0][:, row], weights[1][:, column])
        yield flat, inside, pair[0] * pair[1], [slopes[0][:, row] * pair[1], pair[0] * slopes[1][:, column]]


def _nearest(points: Points) -> Iterator[tuple[Any, Any, Any, list[Any]]]:
    flat, inside = _lookup([np.rint(place).astype(np.int64) for place in points.places], points.spatial)
    yield flat, inside, np.ones_like(points.places[0]), [np.zeros_like(place) for place in points.places]


def _weights(grid: Any, spatial: Sequence[int], mode: int, padding: int, align: bool) -> tuple[Points, Any]:
    points = Points(grid, spatial, padding, align, raw=mode == BICUBIC)
    if mode == BICUBIC:
        return points, _cubic_weights(points, padding, align)
    return points, _corners(points) if mode == BILINEAR else _nearest(points)


def _grid_weights(outs: Any, grid: Any, spatial: Sequence[int], mode: int, padding: int, align: bool) -> None:
    """Fill (begins, index, weights, a slope of the weights per dimension) with what all points are made of.

    Slopes are against the grid's coordinates; None where they are not wanted.
    """
    begins, index, weights, *slopes = outs
    points, each = _weights(grid, spatial, mode, padding, align)
    flats, insides, factors, moves = zip(*each, strict=True)
    inside = np.stack(insides, -1)
    begins[0] = 0
    np.cumsum(np.count_nonzero(inside, axis=-1), out=begins[1:])
    kept = np.flatnonzero(inside)
    index[: len(kept)] = np.stack(flats, -1).reshape(-1)[kept]
    weights[: len(kept)] = np.stack(np.broadcast_arrays(*factors), -1).reshape(-1)[kept]
    for dim, slope in enumerate(slopes):
        if slope is not None:
            speeds = np.broadcast_to(points.factors[dim], begins[1:].shape)[:, None]
            slope[: len(kept)] = (np.stack([one[dim] for one in moves], -1) * speeds).reshape(-1)[kept]


steps["grid_weights"] = _grid_weights


def _all_weights(
    grid: Any, spatial: tuple[int, ...], mode: int, padding: int, align: bool, sloped: bool
) -> tuple[WeightTable, list[Any]]:
    """Return what the points of all samples are made of, and, if wanted, the slopes of the weights per dimension."""
    dims = len(spatial)
    count = grid.size // dims
    most = count * {BILINEAR: 2**dims, NEAREST: 1, BICUBIC: 16}[mode]
    begins, index, weights = np.empty(count + 1, np.int64), np.empty(most, np.int64), np.empty(most, grid.dtype)
    slopes = [np.empty(most, grid.dtype) if sloped else None for _ in spatial]
    flat = np.ascontiguousarray(grid).reshape(count, dims)
    steps["grid_weights"]((begins, index, weights, *slopes), flat, spatial, mode, padding, bool(align))
    end = begins[-1]
    made = WeightTable(begins, index[:end], None if mode == NEAREST else weights[:end])
    return made, [slope[:end] for slope in slopes if slope is not None]


@kernel("grid_sampler_2d", "grid_sampler_3d")
@np.errstate(invalid="ignore")
def sample(out: Any, x: Any, grid: Any, mode: int, padding: int, align: bool) -> None:
    """Weighted sums of the neighbours of the points."""
    if not out.size:
        return
    count = int(np.prod(out.shape[2:]))
    lost = None if np.isfinite(grid).all() else ~np.isfinite(grid).all(-1)
    if lost is not None and x.ndim == 5 and padding == BORDER:
        grid = np.where(np.isnan(grid), grid.dtype.type(1), grid)  # clipped to the far end
    table, _ = _all_weights(grid, x.shape[2:], mode, padding, align, False)
    made = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    for number in range(x.shape[0]):
        lines = np.ascontiguousarray(x[number]).reshape(x.shape[1], -1, 1)
        places = table.slice(number * count, (number + 1) * count)
        steps["weighted_gather"](made[number].reshape(x.shape[1], count, 1), lines, *places)
    if lost is not None and x.ndim == 4 and mode != NEAREST and padding == ZEROS:
        made[np.broadcast_to(lost[:, None], made.shape)] = np.nan  # no share of the neighbours, which count as zeros
    if made is not out:
        out[...] = made


@kernel("grid_sampler_2d_backward", "grid_sampler_3d_backward")
@np.errstate(invalid="ignore")
def sample_backward(outs: Any, grad: Any, x: Any, grid: Any, mode: int, padding: int, align: bool, mask: Any) -> None:
    """Gradients of the input, spread over the neighbours, and of the grid, along the weights' slopes."""
    grad_x, grad_grid = outs
    channels, dims = x.shape[1], x.ndim - 2
    area, count = int(np.prod(x.shape[2:])), int(np.prod(grad.shape[2:]))
    sloped = grad_grid is not None and mode != NEAREST
    table, slopes = _all_weights(grid, x.shape[2:], mode, padding, align, sloped)
    moves = np.zeros((dims, x.shape[0], count), grid.dtype)
    for number in range(x.shape[0]):
        begin, end = number * count, (number + 1) * count
        places, flat = table.slice(begin, end), np.ascontiguousarray(grad[number]).reshape(channels, count)
        if grad_x is not None:
            spread = np.empty((channels, area, 1), x.dtype)
            steps["weighted_scatter"](spread, flat[..., None], *places)
            grad_x[number] = spread.reshape(x.shape[1:])
        if sloped:
            along = np.empty(len(places.index), x.dtype)
            lines = np.ascontiguousarray(x[number]).reshape(channels, area)
            steps["weight_grads"](along, flat, lines, places.begins, places.index)
            for dim, slope in enumerate(slopes):
                given = WeightTable(
                    places.begins, np.arange(len(along)), slope[table.begins[begin] : table.begins[end]]
                )
                steps["weighted_gather"](moves[dim, number].reshape(1, count, 1), along.reshape(1, -1, 1), *given)
    if grad_grid is not None:
        grad_grid[...] = np.stack(list(moves[::-1]), -1).reshape(grad_grid.shape)


def _line(extent: int, dtype: Any) -> Any:
    """Return equidistant numbers from -1 to 1; a step times its number is added to an end and rounded once, as in torch.

    Where a map is the identity, positions are whole, and on which side of one they lie decides their gradients.
    """
    if extent < 2 or dtype != np.float32:
        return np.linspace(-1, 1, extent).astype(dtype) if extent > 1 else np.zeros(extent, dtype)
    step, place = np.float64(np.float32(2) / np.float32(extent - 1)), np.arange(extent)
    return np.where(place < extent // 2, step * place - 1, 1 - step * (extent - 1 - place)).astype(dtype)


def _base_grid(spatial: Sequence[int], align: bool, dtype: Any) -> Any:
    """Return the homogeneous coordinates of all positions, (positions, dimensions + 1)."""
    dims = len(spatial)
    base = np.ones((*spatial, dims + 1), dtype)
    for at, extent in enumerate(spatial):
        line = _line(extent, dtype)
        if not align:
            line = line * dtype.type(extent - 1) / dtype.type(extent)
        shape = [1] * dims
        shape[at] = -1
        base[..., dims - 1 - at] = line.reshape(shape)
    return base.reshape(-1, dims + 1)


@kernel("affine_grid_generator")
def affine_grid(out: Any, theta: Any, size: Any, align: bool) -> None:
    """Every position through the map of its sample."""
    base = _base_grid(size[2:], align, theta.dtype)
    out[...] = np.matmul(base, theta.swapaxes(1, 2)).reshape(out.shape)


@kernel("affine_grid_generator_backward")
def affine_grid_backward(out: Any, grad: Any, size: Any, align: bool) -> None:
    """Gradients of the maps."""
    base = _base_grid(size[2:], align, grad.dtype)
    out[...] = np.matmul(grad.reshape(grad.shape[0], base.shape[0], -1).swapaxes(1, 2), base)
