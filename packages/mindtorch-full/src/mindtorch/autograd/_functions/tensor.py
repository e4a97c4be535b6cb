"""`Type` and `Resize`: a tensor of another dtype or shape, as autograd functions."""

from __future__ import annotations

import math
import warnings
from typing import Any

from mindtorch._naming import adopt
from mindtorch_autograd.function import Function

__all__ = ["Resize", "Type"]


class Type(Function):
    """A tensor of another type, given by its name. Deprecated."""

    @staticmethod
    def forward(ctx: Any, i: Any, dest_type: Any) -> Any:
        """Convert."""
        warnings.warn(
            "`torch.autograd._functions.Type` is deprecated as of PyTorch 2.1, please use `torch.tensor.to(dtype=dtype)` "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
        ctx.input_type = i.type()
        return i.type(dest_type)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Convert back."""
        return grad_output.type(ctx.input_type), None


class Resize(Function):
    """A tensor of another shape with the same number of elements."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Any) -> Any:
        """Return a view of the new shape; RuntimeError for another number of elements."""
        count = math.prod(sizes)
        if tensor.numel() != count:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({count} elements in total), but the given tensor has a "
                f"size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements). autograd's resize can only "
                "change the shape of a given tensor, while preserving the number of elements. "
            )
        ctx.sizes, ctx.numel, ctx.input_sizes = sizes, count, tensor.size()
        if tensor.is_contiguous():
            return tensor.new(tensor).contiguous().view(*sizes)
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        """Give the gradient the shape of the input."""
        return grad_output.contiguous().view(ctx.input_sizes), None


adopt(globals())
