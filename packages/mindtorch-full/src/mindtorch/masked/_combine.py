"""The elements that masks leave, with others in place of those they hide, also of tensors that carry their masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.autograd import Function

from .maskedtensor.core import is_masked_tensor
from .maskedtensor.creation import as_masked_tensor

Filled = Callable[[Any, Any], Any]


def combine(filled: Filled, input: Any, mask: Any) -> Any:
    """Return `filled` of data and mask; of a tensor with a mask its own count, and gradients to it have that mask."""
    if is_masked_tensor(input):
        return Combine.apply(filled, input.get_data(), input.get_mask())
    return filled(input, mask)


class Combine(Function):
    """Data with other elements where the mask hides them."""

    @staticmethod
    def forward(ctx: Any, filled: Filled, data: Any, mask: Any) -> Any:
        ctx.save_for_backward(mask)
        ctx.mark_non_differentiable(mask)
        return filled(data, mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        (mask,) = ctx.saved_tensors
        grad = grad_output.get_data() if is_masked_tensor(grad_output) else grad_output
        return None, as_masked_tensor(grad, mask), None
