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


class SyncBatchNorm(Function):
    """Batch normalization by the statistics of all processes' inputs."""

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        eps: float,
        momentum: float,
        group: Any,
    ) -> Tensor:
        """Normalize; running statistics change in place."""
        dims = [dim for dim in range(input.dim()) if dim != 1]
        wide = input.to(mindtorch.promote_types(input.dtype, mindtorch.float32))
        shape = [1, -1] + [1] * (input.dim() - 2)
        count = wide.new_tensor([input.numel() // input.size(1)])
        totals = mindtorch.cat([wide.sum(dims), count])
        mindtorch.distributed.all_reduce(totals, group=group)
        number = totals[-1]
        mean = totals[:-1] / number
        apart = wide - mean.view(shape)
        squares = apart.pow(2).sum(dims)
        mindtorch.distributed.all_reduce(squares, group=group)
        variance = squares / number
        if running_mean is not None and running_var is not None:
            unbiased = squares / (number - 1)
            running_mean.mul_(1 - momentum).add_(mean.to(running_mean.dtype), alpha=momentum)
            running_var.mul_(1 - momentum).add_(unbiased.to(running_var.dtype), alpha=momentum)
        inverse = (variance + eps).rsqrt()
        ctx.save_for_backward(input, weight, mean, inverse, number)
        ctx.group = group
        result = apart * inverse.view(shape)
        if weight is not None:
            result = result * weight.view(shape)
        if bias is not None:
            result = result + bias.view(shape)
        return result.to(input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients; that of the input depends on all processes' inputs, the others on this one's."""
        input, weight, mean, inverse, number = ctx.saved_tensors
        dims = [dim for dim in range(input.dim()) if dim != 1]
        shape = [1, -1] + [1] * (input.dim() - 2)
        wide = grad.to(mean.dtype)
        normalized = (input.to(mean.dtype) - mean.view(shape)) * inverse.view(shape)
        sums, products = wide.sum(dims), (wide * normalized).sum(dims)
        grad_input = None
        if ctx.needs_input_grad[0]:
            totals = mindtorch.cat([sums, products]) / number
            mindtorch.distributed.all_reduce(totals, group=ctx.group)
            mean_grad, mean_product = totals.chunk(2)
            scale = inverse if weight is None else inverse * weight
            inner = wide - mean_grad.view(shape) - normalized * mean_product.view(shape)
            grad_input = (inner * scale.view(shape)).to(input.dtype)
        grad_weight = products.to(weight.dtype) if weight is not None and ctx.needs_input_grad[1] else None
        grad_bias = sums.to(grad.dtype if weight is None else weight.dtype) if ctx.needs_input_grad[2] else None
        return grad_input, grad_weight, grad_bias, None, None, None, None, None


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
        sums = _running_sum(input.pow(2), half)
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


def _running_sum(x: Tensor, half: int) -> Tensor:
    """Return for each channel the sum of the ``half`` channels on either side and itself.

    A sum is the one before, and the channel that enters the window, less the one that leaves it: so torch rounds, and an
    infinity that left stays as nan. Channel 0 never leaves.
    """
    channels = x.unbind(1)
    totals = [sum(channels[: half + 1], mindtorch.zeros_like(channels[0]))] if channels else []
    for place in range(1, len(channels)):
        total = totals[-1]
        if place + half < len(channels):
            total = total + channels[place + half]
        if place - half - 1 > 0:
            total = total - channels[place - half - 1]
        totals.append(total)
    return mindtorch.stack(totals, 1) if totals else x


def _window_sum(x: Tensor, before: int, after: int) -> Tensor:
    """Return for each channel the sum of the ``before`` channels ahead of it, itself and the ``after`` next ones."""
    channels = x.size(1)
    left = x.new_zeros((x.size(0), before, *x.shape[2:]))
    right = x.new_zeros((x.size(0), after, *x.shape[2:]))
    padded = mindtorch.cat((left, x, right), dim=1)
    return sum(padded[:, start : start + channels] for start in range(before + after + 1))  # type: ignore[return-value]
