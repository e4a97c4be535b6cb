"""What calls with expanded weights are checked for, and how gradients per example are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor

__all__ = [
    "forward_helper",
    "maybe_scale_by_batch_size",
    "set_grad_sample_if_exists",
    "standard_kwargs",
    "sum_over_all_but_batch_and_last_n",
    "unpack_expanded_weight_or_tensor",
]


def is_expanded(value: object) -> bool:
    """True for an expanded weight."""
    return isinstance(value, Tensor) and hasattr(type(value), "set_allow_smaller_batches")


def standard_kwargs(kwarg_names: Sequence[str], expanded_args: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return positional arguments whose last ones have these names, as (positional ones, named ones)."""
    split = len(expanded_args) - len(kwarg_names)
    return tuple(expanded_args[:split]), dict(zip(kwarg_names, expanded_args[split:], strict=True))


def forward_helper(func: Callable[..., Any], expanded_args: Sequence[Any], expanded_kwargs: dict[str, Any]) -> Any:
    """Return what ``func`` gives for the tensors that expanded weights stand for.

    RuntimeError where the first argument has no batch, or another one than the weights are expanded to.
    """
    _check_batch(func, expanded_args, expanded_kwargs)
    args = [one.orig_weight if is_expanded(one) else one for one in expanded_args]
    kwargs = {name: one.orig_weight if is_expanded(one) else one for name, one in expanded_kwargs.items()}
    return func(*args, **kwargs)


def _check_batch(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    first, where = args[0], f"in function {func.__name__}"
    if is_expanded(first):
        raise RuntimeError(
            "Expanded Weights do not support inputs that are also ExpandedWeights. Input must be a Tensor, got "
            f"{type(first).__name__} {where}"
        )
    if not isinstance(first, Tensor):
        raise RuntimeError(
            f"Expanded Weights requires a Tensor as the first input to get the batch dimension, got {type(first).__name__} "
            f"{where}"
        )
    if first.dim() == 0:
        raise RuntimeError(f"Expanded Weights requires a batch dimension but got an input of size 0 {where}")
    if first.shape[0] == 0:
        raise RuntimeError(f"0 is not a valid batch size for Expanded Weights but got input tensor of {first} {where}")
    for one in (*args, *kwargs.values()):
        if not is_expanded(one):
            continue
        size = first.shape[0 if one.batch_first else 1]
        if size != one.batch_size and not (one.allow_smaller_batches and size < one.batch_size):
            raise RuntimeError(
                f"Expected ExpandedWeights to have batch size matching input but got input batch size of {size} with "
                f"ExpandedWeight of batch size {one.batch_size}"
            )


def maybe_scale_by_batch_size(grad_sample: Any, expanded_weight: Any) -> Any:
    """Return gradients per example of the examples' own losses, which a mean has divided by the batch size."""
    return grad_sample * expanded_weight.batch_size if expanded_weight.loss_reduction == "mean" else grad_sample


def set_grad_sample_if_exists(maybe_expanded_weight: object, per_sample_grad_fn: Callable[[Any], Any]) -> None:
    """Add the gradients per example, that the function gives for an expanded weight's tensor, to its ``grad_sample``.

    Other values that need no gradient are left alone; RuntimeError for tensors that do.
    """
    unpacked = unpack_expanded_weight_or_tensor(maybe_expanded_weight)
    if not is_expanded(maybe_expanded_weight):
        return
    expanded: Any = maybe_expanded_weight
    found = maybe_scale_by_batch_size(per_sample_grad_fn(unpacked), expanded)
    missing = expanded.batch_size - found.shape[0]
    if missing > 0:
        found = mindtorch.cat([found, found.new_zeros([missing, *found.shape[1:]])])
    held = getattr(unpacked, "grad_sample", None)
    unpacked.grad_sample = found if held is None else held + found


def unpack_expanded_weight_or_tensor(
    maybe_expanded_weight: Any, func: Callable[[Any], Any] = lambda tensor: tensor
) -> Any:
    """Return what ``func`` gives for an expanded weight's tensor, or a tensor that needs no gradient; else None.

    RuntimeError for tensors that need a gradient.
    """
    if is_expanded(maybe_expanded_weight):
        return func(maybe_expanded_weight.orig_weight)
    if not isinstance(maybe_expanded_weight, Tensor):
        return None
    if maybe_expanded_weight.requires_grad:
        raise RuntimeError(
            "ExpandedWeights currently does not support a mixture of ExpandedWeight parameters and normal Parameters. Please "
            "file and issue with pytorch/pytorch"
        )
    return func(maybe_expanded_weight)


def sum_over_all_but_batch_and_last_n(tensor: Any, n_dims: int) -> Any:
    """Return the sums over all dimensions but the first one and the last ``n_dims``."""
    summed = list(range(1, tensor.dim() - n_dims))
    return tensor.sum(summed) if summed else tensor


adopt(globals())
