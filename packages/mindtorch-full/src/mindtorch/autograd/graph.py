"""`torch.autograd.graph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from mindtorch_autograd.graph import (
    GradientEdge,
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
)
from mindtorch_autograd.graph import MultiHandle as _MultiHandle  # noqa: F401 (a name of torch)
from mindtorch_autograd.graph import gradient_node as _get_grad_fn_or_grad_acc
from mindtorch_autograd.graph_log import log, log_whole_graph
from mindtorch_autograd.mutation import allow_mutation_on_saved_tensors
from mindtorch_autograd.node import Node
from mindtorch_autograd.saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

from .. import _C
from .variable import Variable

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "region_activation_memory_budget",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Choose whether a gradient from another stream than the leaf's is worth a warning; gradients here know no streams.

    Raises RuntimeError for what is no bool.

    >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(None)
    Traceback (most recent call last):
        ...
    RuntimeError: enabled must be a bool, but got NoneType
    """
    _C._set_warn_on_accumulate_grad_stream_mismatch(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Choose what happens to a stale stream while a CUDA graph is captured, which never is; RuntimeError for no bool.

    >>> torch.autograd.graph.set_override_stale_capture_stream(False)
    >>> torch.autograd.graph.set_override_stale_capture_stream(None)
    Traceback (most recent call last):
        ...
    RuntimeError: enabled must be a bool, but got NoneType
    """
    _C._set_override_stale_capture_stream(enabled)


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """Raise: TypeError or ValueError for what is no budget, RuntimeError since no region is compiled here.

    >>> torch.autograd.graph.region_activation_memory_budget(2.0)
    Traceback (most recent call last):
        ...
    ValueError: torch.autograd.graph.region_activation_memory_budget: must be in [0, 1], got 2.0
    """
    name = "torch.autograd.graph.region_activation_memory_budget"
    if isinstance(budget, bool) or not isinstance(budget, (int, float)):
        raise TypeError(f"{name}: expects a float, got {type(budget).__name__}")
    if not 0.0 <= budget <= 1.0:
        raise ValueError(f"{name}: must be in [0, 1], got {budget}")
    raise RuntimeError(f"{name} can only be used inside a torch.compile region; it has no effect in eager mode.")


def _get_sid(tensor: Any) -> tuple[int, int]:
    return tensor.data_ptr(), tensor._version


def _get_tid(tensor: Any) -> tuple[int, int, int]:
    return id(tensor), *_get_sid(tensor)


def _register_logging_hooks_on_whole_graph(t_outputs: Sequence[Any]) -> Callable[[], None]:
    """Tell the logger what the next backward passes run; returns the function that ends it."""
    return log_whole_graph([_get_grad_fn_or_grad_acc(one) for one in t_outputs])


def _engine_run_backward(t_outputs: Sequence[Any], *args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """Run the engine; see `Variable._execution_engine.run_backward`."""
    remove = _register_logging_hooks_on_whole_graph(t_outputs) if log.getEffectiveLevel() <= 10 else None
    try:
        return Variable._execution_engine.run_backward(t_outputs, *args, **kwargs)
    finally:
        if remove is not None:
            remove()
