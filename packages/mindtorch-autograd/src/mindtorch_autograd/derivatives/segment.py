"""Reductions of runs of elements."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Scalar, Tensor

from ..derivative import derivative


def segment_grad(
    grad: Tensor,
    data: Tensor,
    reduce: str,
    lengths: Tensor | None,
    offsets: Tensor | None,
    axis: int,
    initial: Scalar | None,
    result: Tensor,
) -> Any:
    """Each run's gradient spread over its elements."""
    return aten._segment_reduce_backward(
        grad, result, data, reduce, lengths=lengths, offsets=offsets, axis=axis, initial=initial
    )


derivative("segment_reduce", data=segment_grad)
