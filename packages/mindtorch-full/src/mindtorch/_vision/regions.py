"""Pooling over regions of interest, and non-maximum suppression, on arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .sampling import bins, rounded, used

Region = tuple[int, np.ndarray, np.ndarray, float]


def nms(boxes: np.ndarray, scores: np.ndarray, threshold: float) -> np.ndarray:
    """Return the boxes to keep, the best first: of two that overlap by more than the threshold the better one."""
    order = np.argsort(-scores, kind="stable")
    x1, y1, x2, y2 = boxes.T
    areas = (x2 - x1) * (y2 - y1)
    alive = np.ones(len(order), bool)
    kept = []
    for place, i in enumerate(order):
        if not alive[place]:
            continue
        kept.append(i)
        rest = order[place + 1 :]
        width = np.maximum(np.minimum(x2[i], x2[rest]) - np.maximum(x1[i], x1[rest]), 0)
        height = np.maximum(np.minimum(y2[i], y2[rest]) - np.maximum(y1[i], y1[rest]), 0)
        shared = width * height
        with np.errstate(invalid="ignore", divide="ignore"):
            alive[place + 1 :] &= ~(shared / (areas[i] + areas[rest] - shared) > threshold)
    return np.array(kept, np.int64)


def aligned_regions(
    rois: np.ndarray,
    scale: float,
    pooled: tuple[int, int],
    ratio: int,
    aligned: bool,
    extent: tuple[int, int],
    least: float,
) -> Iterator[Region]:
    """Yield image, weights of rows and of columns, and the number of samples of a bin, of every region."""
    offset = 0.5 if aligned else 0.0
    kind = rois.dtype.type  # sizes of bins are whole numbers in this precision or are not
    for row in rois:
        x1, y1, x2, y2 = row[1:] * kind(scale) - kind(offset)
        height, width = max(y2 - y1, least), max(x2 - x1, least)
        rows, down = bins(y1, height, pooled[0], ratio, extent[0], rois.dtype)
        columns, across = bins(x1, width, pooled[1], ratio, extent[1], rois.dtype)
        yield int(row[0]), rows, columns, down * across


def roi_align(image: np.ndarray, regions: Iterator[Region], out: np.ndarray) -> None:
    """Fill `out` [K, C, PH, PW] with the means of every region's bins."""
    for place, (batch, rows, columns, count) in enumerate(regions):
        high, wide = used(rows), used(columns)
        out[place] = rows[:, high] @ image[batch, :, high, wide] @ columns[:, wide].T / max(count, 1)


def roi_align_backward(grad: np.ndarray, regions: Iterator[Region], out: np.ndarray) -> None:
    """Add every region's gradient to the image's."""
    for place, (batch, rows, columns, count) in enumerate(regions):
        high, wide = used(rows), used(columns)
        out[batch, :, high, wide] += rows[:, high].T @ (grad[place] / max(count, 1)) @ columns[:, wide]


def ps_roi_align(image: np.ndarray, regions: Iterator[Region], out: np.ndarray) -> None:
    """As :func:`roi_align`, every bin from channels of its own; a region without samples has no mean, and gives nan."""
    for place, (batch, rows, columns, count) in enumerate(regions):
        high, wide = used(rows), used(columns)
        parts = image[batch].reshape(*out.shape[1:], *image.shape[2:])[..., high, wide]
        sums = np.einsum("ph,cpqhw,qw->cpq", rows[:, high], parts, columns[:, wide], optimize=True)
        out[place] = sums / count if count else np.nan


def ps_roi_align_backward(grad: np.ndarray, regions: Iterator[Region], out: np.ndarray) -> None:
    """Add every region's gradient to the image's."""
    for place, (batch, rows, columns, count) in enumerate(regions):
        high, wide = used(rows), used(columns)
        parts = out[batch].reshape(*grad.shape[1:], *out.shape[2:])
        parts[..., high, wide] += np.einsum(
            "ph,cpq,qw->cpqhw", rows[:, high], grad[place] / max(count, 1), columns[:, wide], optimize=True
        )


def whole_bins(row: Any, scale: float, pooled: tuple[int, int], extent: tuple[int, int], inclusive: int) -> Any:
    """Yield the place of every bin of a region with its range of rows and of columns."""
    kind = row.dtype.type
    x1, y1, x2, y2 = (rounded(float(one * kind(scale))) for one in row[1:])
    step = [
        kind(max(end - start + inclusive, 1)) / kind(count)
        for start, end, count in ((y1, y2, pooled[0]), (x1, x2, pooled[1]))
    ]
    ranges = []
    for start, size, count, most in ((y1, step[0], pooled[0], extent[0]), (x1, step[1], pooled[1], extent[1])):
        low = [min(max(math.floor(kind(one) * size) + start, 0), most) for one in range(count)]
        high = [min(max(math.ceil(kind(one + 1) * size) + start, 0), most) for one in range(count)]
        ranges.append([slice(one, max(one, other)) for one, other in zip(low, high, strict=True)])
    for p, rows in enumerate(ranges[0]):
        for q, columns in enumerate(ranges[1]):
            yield p, q, rows, columns


def roi_pool(image: np.ndarray, rois: np.ndarray, scale: float, out: np.ndarray, places: np.ndarray) -> None:
    """Fill `out` with the maxima of every region's bins and `places` with where they are, -1 of an empty bin."""
    extent, pooled = image.shape[2:], out.shape[2:]
    for k, row in enumerate(rois):
        for p, q, rows, columns in whole_bins(row, scale, pooled, extent, 1):
            part = image[int(row[0]), :, rows, columns]
            if not part.size:
                out[k, :, p, q], places[k, :, p, q] = 0, -1
                continue
            flat = part.reshape(len(part), -1)
            best = flat.argmax(axis=1)
            out[k, :, p, q] = flat[np.arange(len(flat)), best]
            down, across = np.divmod(best, part.shape[2])
            places[k, :, p, q] = (down + rows.start) * extent[1] + across + columns.start


def roi_pool_backward(grad: np.ndarray, rois: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Add every maximum's gradient where it came from."""
    for k, row in enumerate(rois):
        flat = out[int(row[0])].reshape(out.shape[1], -1)
        channels = np.broadcast_to(np.arange(out.shape[1])[:, None, None], places[k].shape)
        there = places[k] >= 0
        np.add.at(flat, (channels[there], places[k][there]), grad[k][there])


def ps_roi_pool(image: np.ndarray, rois: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Fill `out` with the means of every region's bins, every bin from channels of its own.

    Torchvision leaves the last row and column of the image out here, not in the gradient.
    """
    last = (image.shape[2] - 1, image.shape[3] - 1)
    for k, row in enumerate(rois):
        parts = image[int(row[0])].reshape(*out.shape[1:], *image.shape[2:])
        for p, q, rows, columns in whole_bins(row, scale, out.shape[2:], last, 0):
            part = parts[:, p, q, rows, columns]
            out[k, :, p, q] = part.mean(axis=(1, 2)) if part.size else 0


def ps_roi_pool_backward(grad: np.ndarray, rois: np.ndarray, scale: float, out: np.ndarray) -> None:
    """Add every bin's gradient to the image's."""
    for k, row in enumerate(rois):
        parts = out[int(row[0])].reshape(*grad.shape[1:], *out.shape[2:])
        for p, q, rows, columns in whole_bins(row, scale, grad.shape[2:], out.shape[2:], 0):
            part = parts[:, p, q, rows, columns]
            if part.size:
                part += (grad[k, :, p, q] / (part.shape[1] * part.shape[2]))[:, None, None]


def channel_mapping(regions: int, channels: int, pooled: tuple[int, int]) -> np.ndarray:
    """Return the channel that every bin of a result came from."""
    one = np.arange(channels * pooled[0] * pooled[1], dtype=np.int32).reshape(channels, *pooled)
    return np.broadcast_to(one, (regions, *one.shape)).copy()
