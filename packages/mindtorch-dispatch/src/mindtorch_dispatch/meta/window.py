"""Windows along one dimension: how far one reaches and how many there are, of convolutions, pools and blocks alike."""

from __future__ import annotations


def reach(kernel: int, dilation: int) -> int:
    """Return how many places a window of `kernel` elements spans."""
    return dilation * (kernel - 1) + 1


def window_count(
    extent: int, kernel: int, stride: int, padding: int = 0, dilation: int = 1, ceil_mode: bool = False
) -> int:
    """Return how many windows lie along a dimension; less than one where none does.

    With `ceil_mode` a last one may reach beyond the end, if it begins inside the input or its left padding.
    """
    left = extent + 2 * padding - reach(kernel, dilation)
    if not ceil_mode:
        return left // stride + 1
    count = (left + stride - 1) // stride + 1
    return count - 1 if (count - 1) * stride >= extent + padding else count


def covered(count: int, kernel: int, stride: int, padding: int = 0, dilation: int = 1) -> int:
    """Return the least extent, without its padding, that has `count` windows: that of a transposed convolution."""
    return (count - 1) * stride - 2 * padding + reach(kernel, dilation)
