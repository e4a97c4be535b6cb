"""Calls with expanded weights: computed at once, differentiated by the weights for each example of the batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.autograd import Function
from mindtorch.func import vjp, vmap

from .expanded_weights_utils import forward_helper, is_expanded, set_grad_sample_if_exists

_PARAMETERS = {
    "linear": "input weight bias",
    "conv1d": "input weight bias stride padding dilation groups",
    "conv2d": "input weight bias stride padding dilation groups",
    "conv3d": "input weight bias stride padding dilation groups",
    "embedding": "input weight padding_idx max_norm norm_type scale_grad_by_freq sparse",
    "group_norm": "input num_groups weight bias eps",
    "instance_norm": "input running_mean running_var weight bias use_input_stats momentum eps",
    "layer_norm": "input normalized_shape weight bias eps",
}
"""The functions that are handled, and their parameters in order."""
HANDLED = frozenset(_PARAMETERS)


def _named(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(_PARAMETERS[name].split(), args, strict=False)) | kwargs


def _check_layout(name: str, func: object, named: dict[str, Any]) -> None:
    """Raise torch's errors for inputs in which a function has no batch dimension of its own."""
    given = named.get("input")
    if not isinstance(given, Tensor) or is_expanded(given):
        return
    if name == "linear" and given.dim() < 2:
        raise RuntimeError(
            "Input does not have a batch dimension. Expanded Weights expected input of at least rank 2, got of rank "
            f"{given.dim()}"
        )
    if name.startswith("conv") and given.dim() != int(name[4]) + 2:
        raise RuntimeError(
            f"Expanded Weights only support convolution with batched input, got {func} with anunbatched input of dim "
            f"{given.dim()}, expected input of dim {int(name[4]) + 2}"
        )
    if name == "embedding" and given.dim() == 1:
        raise RuntimeError(f"Expanded Weights needs an input with a batch size, got a 1D tensor, {given}")
    if name == "layer_norm" and given.dim() <= len(named["normalized_shape"]):
        raise RuntimeError(
            "Expanded Weights: Layer norm should not normalize over batch dimension for per sample gradient"
            f"computations but got that normalized shape, {named['normalized_shape']}, matched input shape."
        )


def _without_effects(name: str, named: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with which a function writes into none of them: what it wrote, the call itself has written."""
    if name == "embedding":
        # Padding and frequencies do not change the samples, as in torch.
        return named | {"max_norm": None, "sparse": False, "padding_idx": None, "scale_grad_by_freq": False}
    if name == "instance_norm" and named.get("use_input_stats", True):
        return named | {"running_mean": None, "running_var": None}
    return named


class _PerSample(Function):
    """One call: its inputs are the call's input and the tensors that its weights stand for."""

    @staticmethod
    def forward(ctx: Any, name: str, func: Any, named: dict[str, Any], *tensors: Any) -> Any:
        """Compute the call on the whole batch."""
        ctx.name, ctx.func, ctx.named = name, func, named
        return forward_helper(func, (named["input"],), {key: one for key, one in named.items() if key != "input"})

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Return the input's gradient; those of the weights become the samples of their tensors."""
        plain = {
            key: one.orig_weight.detach() if is_expanded(one) else one
            for key, one in _without_effects(ctx.name, ctx.named).items()
        }
        batch = plain.pop("input").detach()
        weights = {key: one for key, one in ctx.named.items() if key in ("weight", "bias") and isinstance(one, Tensor)}
        samples = _samples(ctx.func, plain, batch, grad, [key for key, one in weights.items() if is_expanded(one)])
        for key, one in weights.items():
            set_grad_sample_if_exists(one, lambda _, key=key: samples[key])
        found = None
        if ctx.needs_input_grad[3]:
            _, back = vjp(lambda given: ctx.func(given, **plain), batch)
            (found,) = back(grad)
        return None, None, None, found, *[None] * (len(ctx.needs_input_grad) - 4)


def _samples(func: Callable[..., Any], plain: dict[str, Any], batch: Any, grad: Any, keys: list[str]) -> dict[str, Any]:
    """Return for each of the weights its gradients, one per example."""
    values = [plain[key] for key in keys]

    def of_one(example: Any, gradient: Any) -> Any:
        def call(*weights: Any) -> Any:
            return func(example.unsqueeze(0), **{**plain, **dict(zip(keys, weights, strict=True))})

        return vjp(call, *values)[1](gradient.unsqueeze(0))

    return dict(zip(keys, vmap(of_one)(batch, grad), strict=True))


def computed(name: str, func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what a handled function gives, recorded so that a backward sets the samples of its weights."""
    named = _named(name, args, kwargs)
    _check_layout(name, func, named)
    tensors = [one.orig_weight if is_expanded(one) else one for key, one in named.items() if key in ("weight", "bias")]
    first = named["input"]
    if not isinstance(first, Tensor) or is_expanded(first):
        forward_helper(func, (first,), {})  # raises
    with mindtorch._C.DisableTorchFunctionSubclass():
        return _PerSample.apply(name, func, named, first, *tensors)
