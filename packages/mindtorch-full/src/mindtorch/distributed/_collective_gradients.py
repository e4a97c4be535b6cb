"""Gradients of the functional collectives' operators: what a call leaves for them, and what they make of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.distributed import _finished_collectives as finished

_HOME = "torch.distributed._functional_collectives"


def wait_tensor_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Nothing is kept."""


def wait_tensor_backward(ctx: Any, grad_output: Any) -> Any:
    """The gradient itself."""
    return grad_output


_wrap_tensor_autograd_setup_context, _wrap_tensor_autograd_backward = wait_tensor_setup_context, wait_tensor_backward


def _keep_reduction(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, reduce_op, ctx.group_name = inputs
    ctx.reduce_op = reduce_op.lower()


def _keep_group(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, ctx.group_size, ctx.group_name = inputs


def _keep_both(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    _, reduce_op, ctx.group_size, ctx.group_name = inputs
    ctx.reduce_op = reduce_op.lower()


def _renamed(function: Callable[..., None], name: str) -> Callable[..., None]:
    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        function(ctx, inputs, output)

    setup.__name__ = setup.__qualname__ = name
    return setup


all_reduce_setup_context = _renamed(_keep_reduction, "all_reduce_setup_context")
all_reduce_coalesced_setup_context = _renamed(_keep_reduction, "all_reduce_coalesced_setup_context")
all_gather_into_tensor_setup_context = _renamed(_keep_group, "all_gather_into_tensor_setup_context")
all_gather_into_tensor_coalesced_setup_context = _renamed(_keep_group, "all_gather_into_tensor_coalesced_setup_context")
reduce_scatter_tensor_setup_context = _renamed(_keep_both, "reduce_scatter_tensor_setup_context")
reduce_scatter_tensor_coalesced_setup_context = _renamed(_keep_both, "reduce_scatter_tensor_coalesced_setup_context")


def all_to_all_single_setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep how many rows went and came."""
    _, ctx.output_split_sizes, ctx.input_split_sizes, ctx.group_name = inputs


def all_reduce_backward(ctx: Any, grad_output: Any) -> Any:
    """The sum of the gradients of all."""
    finished.only_sum("all_reduce", ctx.reduce_op)
    return finished.all_reduce(grad_output, ctx.reduce_op, ctx.group_name), None, None


def all_gather_into_tensor_backward(ctx: Any, grad_output: Any) -> Any:
    """This rank's part of the sum of the gradients."""
    return finished.reduce_scatter_single(grad_output, "sum", ctx.group_name), None, None


def reduce_scatter_tensor_backward(ctx: Any, grad_output: Any) -> Any:
    """The gradients of all parts."""
    finished.only_sum("reduce_scatter_tensor", ctx.reduce_op)
    return finished.all_gather_single(grad_output, 0, ctx.group_name), None, None, None


def all_to_all_single_backward(ctx: Any, grad_output: Any) -> Any:
    """The gradients go back to where the rows came from."""
    grad = finished.all_to_all_single(grad_output, ctx.input_split_sizes, ctx.output_split_sizes, ctx.group_name)
    return grad, None, None, None


def _each(name: str, one: Callable[[Any], Any], grads: list[Any], *args: Any) -> list[Any]:
    """What a collective makes of each gradient; modes and graphs are told of the one for all."""
    if not finished.is_seen():
        return [one(grad) for grad in grads]
    operators = mindtorch.ops._c10d_functional
    tensors = getattr(operators, name)([grad.contiguous() for grad in grads], *args)
    return [operators.wait_tensor(tensor) for tensor in tensors]


def all_reduce_coalesced_backward(ctx: Any, grad_outputs: list[Any]) -> Any:
    """That of `all_reduce`, for each."""
    op, group = ctx.reduce_op, ctx.group_name
    finished.only_sum("all_reduce_coalesced", op)
    grads = _each("all_reduce_coalesced", lambda g: finished.all_reduce(g, op, group), grad_outputs, op, group)
    return grads, None, None


def all_gather_into_tensor_coalesced_backward(ctx: Any, grad_outputs: list[Any]) -> Any:
    """That of `all_gather_into_tensor`, for each."""
    name, size, group = "reduce_scatter_tensor_coalesced", ctx.group_size, ctx.group_name
    grads = _each(name, lambda g: finished.reduce_scatter_single(g, "sum", group), grad_outputs, "sum", size, group)
    return grads, None, None


def reduce_scatter_tensor_coalesced_backward(ctx: Any, grad_outputs: list[Any]) -> Any:
    """That of `reduce_scatter_tensor`, for each."""
    name, size, group = "all_gather_into_tensor_coalesced", ctx.group_size, ctx.group_name
    finished.only_sum("reduce_scatter_tensor_coalesced", ctx.reduce_op)
    grads = _each(name, lambda g: finished.all_gather_single(g, 0, group), grad_outputs, size, group)
    return grads, None, None, None


adopt(globals(), _HOME)
