"""Checkpointing as one autograd node that runs its function again, in a backward inside the backward."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import mindtorch as torch
from mindtorch.autograd import Function
from mindtorch_autograd.running import is_checkpoint_valid

from ._replay import Surroundings


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tensors of a tuple without their history; they still ask for gradients if they did.

    >>> import torch.utils.checkpoint
    >>> torch.utils.checkpoint.detach_variable((torch.ones(1, requires_grad=True).exp(),))[0].is_leaf
    True
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: " + type(inputs).__name__)
    out = []
    for value in inputs:
        if isinstance(value, torch.Tensor):
            detached = value.detach()
            detached.requires_grad = value.requires_grad
            out.append(detached)
        else:
            out.append(value)
    return tuple(out)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn when no input asks for a gradient: none will come.

    >>> import torch.utils.checkpoint
    >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(value.requires_grad for value in inputs if isinstance(value, torch.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


class CheckpointFunction(Function):
    """Forward without a graph; backward builds the graph again and goes back through it.

    >>> from torch.utils.checkpoint import checkpoint
    >>> x = torch.ones(2, requires_grad=True)
    >>> checkpoint(torch.exp, x, use_reentrant=True).grad_fn.name()
    'CheckpointFunctionBackward'
    """

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function with gradients off, keeping its inputs."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(args, preserve_rng_state)
        ctx.inputs = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
        ctx.tensor_indices = [index for index, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.save_for_backward(*(args[index] for index in ctx.tensor_indices))
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run the function again with gradients on, and backward through what it recorded."""
        if not is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible"
                " with .grad() or passing an `inputs` parameter to .backward()."
                " To resolve this error, you can either set use_reentrant=False,"
                " or call .backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for index, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[index] = tensor
        with ctx.surroundings.entered():
            detached = detach_variable(tuple(inputs))
            with torch.enable_grad():
                outputs = ctx.run_function(*detached)
        if isinstance(outputs, torch.Tensor):
            outputs = (outputs,)
        wanted = [
            (output, grad)
            for output, grad in zip(outputs, args, strict=True)
            if isinstance(output, torch.Tensor) and output.requires_grad
        ]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([output for output, _ in wanted], [grad for _, grad in wanted])
        return (None, None, *(value.grad if isinstance(value, torch.Tensor) else None for value in detached))
