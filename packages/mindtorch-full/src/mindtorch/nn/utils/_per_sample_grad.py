"""`torch.nn.utils._per_sample_grad`: gradients of a module's parameters for each example of a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.func import functional_call
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils._expanded_weights import ExpandedWeight
from mindtorch.nn.utils.rnn import PackedSequence
from mindtorch.utils._pytree import tree_leaves

__all__ = ["call_for_per_sample_grads"]


def _size_of_batch(args: tuple[Any, ...], kwargs: dict[str, Any], batch_first: bool) -> int:
    found: int | None = None
    for one in tree_leaves((args, kwargs), is_leaf=lambda value: isinstance(value, PackedSequence)):
        if isinstance(one, PackedSequence):
            size = int(one.batch_sizes[0])
        elif isinstance(one, Tensor):
            size = one.shape[0] if batch_first else one.shape[1]
        else:
            continue
        if found is not None and found != size:
            raise RuntimeError(
                f"When computing batch size, found at least one input with batch size {found} and one with batch size {size}. "
                "Please specify it explicitly using the batch size kwarg in call_for_per_sample_grads"
            )
        found = size
    if found is None:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so ExpandedWeights cannot "
            "compute the batch size from the inputs. Please specify it explicitly"
        )
    return found


def call_for_per_sample_grads(
    module: Any, *, batch_size: int | None = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable[..., Any]:
    """Return a function that calls ``module`` so that a backward sets ``grad_sample`` of its parameters.

    ``grad_sample`` has one gradient per example: shape (batch size, shape of the parameter). The batch size is that of
    the tensors among the arguments unless it is given. ``loss_reduction`` says how the loss joins the examples' losses,
    "sum" or "mean". RuntimeError for a module with parts that `ExpandedWeight` does not know, and for parameters that have
    a ``grad_sample`` already.

    >>> layer = torch.nn.Linear(2, 1)
    >>> _ = torch.nn.utils._per_sample_grad.call_for_per_sample_grads(layer)(torch.ones(3, 2)).sum().backward()
    >>> layer.weight.grad_sample.shape
    torch.Size([3, 1, 2])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls without "
                f"clearing gradients. Please clear out the grad_sample parameter of {weight} or post an issue to "
                "pytorch/pytorch to prioritize correct behavior"
            )

    @functools.wraps(module.forward)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        size = _size_of_batch(args, kwargs, batch_first) if batch_size is None else batch_size

        def expanded(weight: Any) -> Any:
            if not weight.requires_grad:
                return weight
            made = ExpandedWeight(weight, size, loss_reduction)
            made.set_batch_first(batch_first)
            return made

        return functional_call(module, {name: expanded(one) for name, one in module.named_parameters()}, args, kwargs)

    return wrapper


adopt(globals())
