"""Reductions of runs of elements."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative


def segment_grad(
    grad: Any, data: Any, reduce: str, lengths: Any, offsets: Any, axis: int, initial: Any, result: Any
) -> Any:
    """Each run's gradient spread over its elements."""
    return aten._segment_reduce_backward(
        grad, result, data, reduce, lengths=lengths, offsets=offsets, axis=axis, initial=initial
    )


derivative("segment_reduce", data=segment_grad)
