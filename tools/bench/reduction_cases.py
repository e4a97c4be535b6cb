"""Reductions, running sums, sorts and counts of one to four megabytes: one kernel each."""

from collections.abc import Callable

import torch

ROWS = (6144, 128)
SQUARE = (1024, 1024)

Step = Callable[[], object]


def mean_last() -> Step:
    """Over the last dimension."""
    x = torch.randn(ROWS)
    return lambda: x.mean(-1)


def amax_last() -> Step:
    """Over the last dimension, without places."""
    x = torch.randn(ROWS)
    return lambda: x.amax(-1)


def max_last() -> Step:
    """With places."""
    x = torch.randn(ROWS)
    return lambda: x.max(-1)


def argmax_last() -> Step:
    """Over the last dimension."""
    x = torch.randn(ROWS)
    return lambda: x.argmax(-1)


def var_last() -> Step:
    """Over the last dimension."""
    x = torch.randn(ROWS)
    return lambda: x.var(-1)


def norm_last() -> Step:
    """The Euclidean norm."""
    x = torch.randn(ROWS)
    return lambda: x.norm(dim=-1)


def sum_whole_numbers() -> Step:
    """int64."""
    x = torch.randint(0, 100, ROWS)
    return lambda: x.sum(-1)


def cumsum() -> Step:
    """Along rows."""
    x = torch.randn(SQUARE)
    return lambda: x.cumsum(-1)


def sort_rows() -> Step:
    """Rows of 256 floats."""
    x = torch.randn(1024, 256)
    return lambda: x.sort(-1)


def sort_whole_numbers() -> Step:
    """One row of int64, of which 40 bits are used."""
    x = torch.randint(0, 1 << 40, (262144,))
    return lambda: x.sort()


def unique() -> Step:
    """A thousand values."""
    x = torch.randint(0, 1000, (262144,))
    return lambda: x.unique()


def median() -> Step:
    """Of rows of 256 floats."""
    x = torch.randn(1024, 256)
    return lambda: x.median(-1)


def bincount() -> Step:
    """A thousand bins."""
    x = torch.randint(0, 1000, (262144,))
    return lambda: x.bincount()


def cummax() -> Step:
    """With places, along rows."""
    x = torch.randn(SQUARE)
    return lambda: x.cummax(-1)


def cumsum_whole_numbers() -> Step:
    """int64."""
    x = torch.randint(0, 100, SQUARE)
    return lambda: x.cumsum(-1)


def kthvalue() -> Step:
    """Of a million floats."""
    x = torch.randn(1 << 20)
    return lambda: x.kthvalue(1000)


def nansum() -> Step:
    """Along rows."""
    x = torch.randn(SQUARE)
    return lambda: x.nansum(-1)


def distances() -> Step:
    """Euclidean, of 64 numbers."""
    x, y = torch.randn(1024, 64), torch.randn(1024, 64)
    return lambda: torch.cdist(x, y)
