"""Autograd functions that layers are built from."""

from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.autograd.function import Function


class BackwardHookFunction(Function):
    """Passes tensors through unchanged; its node is where module backward hooks attach."""

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        """Return the arguments; those that need no gradient stay that way."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients."""
        return args


class CrossMapLRN2d(Function):
    """Local response normalization across the channels of (N, C, H, W).

    The windows are torch's to the letter: forward never drops channel 0 from a window it once entered, and the
    window of backward lies one channel earlier than that of forward.
    """

    @staticmethod
    def forward(ctx: Any, input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Tensor:
        """Return ``input`` divided by ``(k + alpha/size * window sum of squares) ** beta``."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        half = (size - 1) // 2
        squares = input.pow(2)
        sums = _window_sum(squares, half, half)
        sums[:, half + 1 :] += squares[:, :1]
        scale = sums.mul(alpha / size).add(k)
        output = input * scale.pow(-beta)
        ctx.save_for_backward(input, output, scale)
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple:
        """Return the gradient of the input."""
        input, output, scale = ctx.saved_tensors
        before = min((ctx.size + 1) // 2, ctx.size - 1)
        gathered = _window_sum(grad_output * output / scale, before, ctx.size - 1 - before)
        grad = grad_output * scale.pow(-ctx.beta) - 2 * ctx.alpha * ctx.beta / ctx.size * input * gathered
        return grad, None, None, None, None


def _window_sum(x: Tensor, before: int, after: int) -> Tensor:
    """Return for each channel the sum of the ``before`` channels ahead of it, itself and the ``after`` next ones."""
    channels = x.size(1)
    left = x.new_zeros((x.size(0), before, *x.shape[2:]))
    right = x.new_zeros((x.size(0), after, *x.shape[2:]))
    padded = mindtorch.cat((left, x, right), dim=1)
    return sum(padded[:, start : start + channels] for start in range(before + after + 1))
