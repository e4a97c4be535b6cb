"""Averages of gradients, whole or in parts, also with half the bytes."""

from __future__ import annotations

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor


class DefaultState:
    """A group, and by what gradients are divided before and after they are added up."""

    __slots__ = ["gradient_postdivide_factor", "gradient_predivide_factor", "process_group", "world_size"]

    def __init__(self, process_group: dist.ProcessGroup) -> None:
        if process_group is None:
            raise ValueError(f"Expected to pass in an explicit ProcessGroup to {self}.")
        self.process_group = process_group
        self.world_size = dist.get_world_size(process_group)
        self.gradient_predivide_factor = self._get_gradient_predivide_factor(self.world_size)
        self.gradient_postdivide_factor = self.world_size / self.gradient_predivide_factor

    @staticmethod
    def _get_gradient_predivide_factor(world_size: int) -> float:
        """Return a power of two near the root of the number of processes, so that neither sums nor terms are lost."""
        factor = 1
        while world_size % factor == 0 and world_size / factor > factor:
            factor *= 2
        return float(factor)


class LowPrecisionState(DefaultState):
    """A group, and the dtype that gradients have again when they were sent with fewer bytes."""

    __slots__ = ["parameter_type"]

    def __init__(self, process_group: dist.ProcessGroup, parameter_type: torch.dtype = torch.float32) -> None:
        super().__init__(process_group)
        self.parameter_type = parameter_type


def _decompress(state: LowPrecisionState, grad: Tensor) -> None:
    """Give a gradient its dtype again."""
    grad.data = grad.data.to(state.parameter_type)


def allreduce_hook(state: DefaultState, grad: Tensor) -> None:
    """Average whole gradients, in place."""
    if state.gradient_predivide_factor > 1:
        grad.div_(state.gradient_predivide_factor)
    dist.all_reduce(grad, group=state.process_group)
    if state.gradient_postdivide_factor > 1:
        grad.div_(state.gradient_postdivide_factor)


def reduce_scatter_hook(state: DefaultState, grad: Tensor, output: Tensor) -> None:
    """Average gradients, each process its part."""
    if state.gradient_predivide_factor > 1:
        grad.div_(state.gradient_predivide_factor)
    dist.reduce_scatter_single(output, grad, group=state.process_group)
    if state.gradient_postdivide_factor > 1:
        output.div_(state.gradient_postdivide_factor)


def _low_precision_hook(prec: torch.dtype, state: LowPrecisionState, grad: Tensor, output: Tensor | None) -> None:
    if grad.dtype != prec:
        grad.data = grad.data.to(prec)
    if output is None:
        allreduce_hook(state, grad)
        _decompress(state, grad)
        return
    if output.dtype != prec:
        output.data = output.data.to(prec)
    reduce_scatter_hook(state, grad, output)
    _decompress(state, output)


def fp16_compress_hook(state: LowPrecisionState, grad: Tensor, output: Tensor | None = None) -> None:
    """Average gradients as float16."""
    _low_precision_hook(torch.float16, state, grad, output)


def bf16_compress_hook(state: LowPrecisionState, grad: Tensor, output: Tensor | None = None) -> None:
    """Average gradients as bfloat16."""
    _low_precision_hook(torch.bfloat16, state, grad, output)


adopt(globals())
