"""The shapes that a gradient is checked by."""

from __future__ import annotations

from typing import Any

from mindtorch_autograd.graph import GradientEdge
from mindtorch_storage.size import Size


def _calculate_shape(output: Any, grad: Any, is_grads_batched: bool) -> tuple[Any, Any]:
    """The shape of an output, and that of its gradient without the batch."""
    if isinstance(output, GradientEdge):
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        return Size(output.node._input_metadata[output.output_nr].shape), grad.shape
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape
