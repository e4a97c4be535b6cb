"""`torch.nn.parallel._functions`: copies between accelerators as functions of autograd; a CPU tensor is refused, as in torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.autograd.function import Function
from mindtorch.tensor.tensor import Tensor

__all__ = ["Broadcast", "Gather", "ReduceAddCoalesced", "Scatter"]

_REASON = "copies over several accelerators are not offered"


def _refuse_cpu(name: str, tensors: Sequence[Tensor]) -> None:
    if any(tensor.device.type == "cpu" for tensor in tensors):
        raise AssertionError(f"{name} function not implemented for CPU tensors")


class Broadcast(Function):
    """Copies tensors to several accelerators; raises for tensors of the CPU, and where there is one accelerator."""

    @staticmethod
    def forward(ctx: Any, target_gpus: Sequence[Any], *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the copies; of no tensors, no copies."""
        _refuse_cpu("Broadcast", inputs)
        if inputs:
            raise NotImplementedError(f"torch.nn.parallel._functions.Broadcast: {_REASON}")
        return ()


class ReduceAddCoalesced(Function):
    """Adds gradients of several accelerators; raises, there is one."""

    @staticmethod
    def forward(ctx: Any, destination: int, num_inputs: int, *grads: Tensor) -> NoReturn:
        """Raise for tensors of the CPU, and for others, as there is one accelerator."""
        for place, grad in enumerate(grads):
            if grad.device.type == "cpu":
                raise AssertionError(f"reduce_add expects all inputs to be on GPUs, but input {place} is on CPU")
        raise NotImplementedError(f"torch.nn.parallel._functions.ReduceAddCoalesced: {_REASON}")


class Gather(Function):
    """Joins tensors of several accelerators; raises for tensors of the CPU, and for others, as there is one accelerator."""

    @staticmethod
    def forward(ctx: Any, target_device: Any, dim: int, *inputs: Tensor) -> NoReturn:
        """Raise for tensors of the CPU, and for others, as there is one accelerator."""
        _refuse_cpu("Gather", inputs)
        raise NotImplementedError(f"torch.nn.parallel._functions.Gather: {_REASON}")


class Scatter(Function):
    """Splits a tensor over several accelerators; raises, there is one."""

    @staticmethod
    def forward(
        ctx: Any, target_gpus: Sequence[Any], chunk_sizes: Sequence[int] | None, dim: int, input: Tensor
    ) -> NoReturn:
        """Raise: there is one accelerator."""
        raise NotImplementedError(f"torch.nn.parallel._functions.Scatter: {_REASON}")


adopt(globals())
