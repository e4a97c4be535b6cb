"""Reductions of runs of elements along one dim; each row of the dims before it has its own runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..register import kernel

_EMPTY = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
_REDUCE = {"sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def _runs(lengths: Any, offsets: Any) -> Iterator[tuple[Any, slice]]:
    """Yield (index of the result, its run) for every run."""
    edges = offsets
    if lengths is not None:
        edges = np.zeros((*lengths.shape[:-1], lengths.shape[-1] + 1), np.int64)
        np.cumsum(lengths, -1, out=edges[..., 1:])
    for row in np.ndindex(edges.shape[:-1]):
        for number in range(edges.shape[-1] - 1):
            yield (*row, number), slice(int(edges[(*row, number)]), int(edges[(*row, number + 1)]))


def _check(lengths: Any, extent: int) -> None:
    if lengths.size and lengths.min() < 0:
        raise RuntimeError("lengths contains negative value!")
    if np.any(lengths.sum(-1) != extent):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )


def _check_lengths(lengths: Any, offsets: Any) -> None:
    """Refuse runs that end before they start."""
    found = np.diff(offsets, axis=-1) if lengths is None else lengths
    if found.size and found.min() < 0:
        raise RuntimeError(
            "Expected segment_length >= 0 to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )


@kernel("segment_reduce")
def segment_reduce(
    out: Any, data: Any, reduce: str, lengths: Any, _none: Any, offsets: Any, axis: int, unsafe: bool, initial: Any
) -> None:
    """One value per run; an empty run gives what the reduction starts from, and nan for a mean."""
    if lengths is not None and not unsafe:
        _check(lengths, data.shape[axis])
    _check_lengths(lengths, offsets)
    start = _EMPTY[reduce] if initial is None else initial
    for place, run in _runs(lengths, offsets):
        elements = data[(*place[:-1], run)]
        count = elements.shape[0]
        value = _REDUCE[reduce].reduce(elements, 0, initial=start)
        if reduce == "mean":
            value = value / count if count else (np.nan if initial is None else value)
        out[place] = value


@kernel("_segment_reduce_backward")
def segment_reduce_backward(
    out: Any, grad: Any, output: Any, data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, initial: Any
) -> None:
    """The gradient of each run spread over its elements."""
    out.fill(0)
    for place, run in _runs(lengths, offsets):
        elements = data[(*place[:-1], run)]
        if not elements.shape[0]:
            continue
        given, target = grad[place], out[(*place[:-1], run)]
        if reduce == "sum":
            target[...] = given
        elif reduce == "mean":
            target[...] = given / elements.shape[0]
        elif reduce == "prod":
            target[...] = given * _product_of_others(elements, 1.0 if initial is None else initial)
        else:
            chosen = (elements == output[place]) | np.isnan(elements)
            target[...] = np.where(chosen, given / np.maximum(chosen.sum(0), 1), 0)


def _product_of_others(elements: Any, initial: float) -> Any:
    before = np.ones_like(elements)
    before[1:] = np.multiply.accumulate(elements[:-1], 0)
    after = np.ones_like(elements)
    after[:-1] = np.multiply.accumulate(elements[:0:-1], 0)[::-1]
    return before * after * elements.dtype.type(initial)
