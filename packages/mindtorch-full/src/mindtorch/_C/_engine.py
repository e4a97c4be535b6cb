"""The names of `torch._C` about recording and the running backward pass."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch_autograd import forward_mode, graph, mode, running
from mindtorch_autograd.backward import run_roots
from mindtorch_autograd.graph import GradientEdge
from mindtorch_autograd.mode import inference_mode, is_grad_enabled, is_inference_mode_enabled
from mindtorch_autograd.node import Node
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

_current_graph_task_id = running.current_graph_task_id
_current_graph_task_execution_order = running.execution_order
_current_autograd_node = running.current_node
_is_fwd_grad_enabled = forward_mode.is_enabled
_set_fwd_grad_enabled = forward_mode.set_enabled

__all__ = [
    "_ImperativeEngine",
    "_InferenceMode",
    "_any_requires_grad",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_increment_version",
    "_is_fwd_grad_enabled",
    "_is_grad_layout_enforcement_enabled",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_grad_layout_enforcement_enabled",
    "_set_override_stale_capture_stream",
    "_set_view_replay_enabled",
    "_set_warn_on_accumulate_grad_stream_mismatch",
    "_warn_on_accumulate_grad_stream_mismatch",
    "_will_engine_execute_node",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]

_stream_flags = {"mismatch": True, "stale": False}
"""Switches about streams of CUDA, which no gradient here has: they are kept, and nothing depends on them."""


def _will_engine_execute_node(node: Any) -> bool:
    """Return whether the running pass runs `node`; torch's RuntimeError outside of one and for what is no node."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return running.will_execute(node)


def _set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off; TypeError for what is no bool."""
    mode.set_grad_enabled(enabled)


def _is_grad_layout_enforcement_enabled() -> bool:
    """Return whether first gradients get the layout of their leaf."""
    return mode.layout_policy.enforced


_set_grad_layout_enforcement_enabled = mode.set_layout_policy


def _is_multithreading_enabled() -> bool:
    """Return the switch that `set_multithreading_enabled` sets."""
    return mode.multithreading.enabled


def _is_view_replay_enabled() -> bool:
    """Return False: the history of a view whose base was written is one step from the base."""
    return False


def _set_view_replay_enabled(enabled: bool) -> None:
    """Accept False; NotImplementedError for True, TypeError for what is no bool."""
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_view_replay_enabled(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}"
        )
    if enabled:
        raise NotImplementedError("the chain of a view is not replayed: after a write its history is one as_strided")


def _any_requires_grad(*args: Any, **kwargs: Any) -> bool:
    """Return whether a tensor among the arguments, or directly in a list of them, requires grad."""
    for value in (*args, *kwargs.values()):
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, TensorBase) and one.requires_grad:
                return True
    return False


def _increment_version(tensors: Any) -> None:
    """Count a write that no op made to each of the tensors; a tensor counts as the sequence of its rows, as in torch."""
    rows: Any = tensors
    graph.increment_version(list(rows) if isinstance(tensors, TensorBase) else tensors)


def _flag(enabled: Any) -> bool:
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")
    return enabled


def _set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Keep the switch; RuntimeError for what is no bool."""
    _stream_flags["mismatch"] = _flag(enabled)


def _warn_on_accumulate_grad_stream_mismatch() -> bool:
    """Return the switch."""
    return _stream_flags["mismatch"]


def _set_override_stale_capture_stream(enabled: bool) -> None:
    """Keep the switch; RuntimeError for what is no bool."""
    _stream_flags["stale"] = _flag(enabled)


class _InferenceMode:
    """Inference mode from now until the object is gone, or for a `with` block."""

    def __init__(self, mode: bool) -> None:
        self._before = state.mode
        self._guard = inference_mode(mode)
        self._guard.__enter__()

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, *exc_info: object) -> None:
        self._leave()

    def __del__(self) -> None:
        self._leave()

    def _leave(self) -> None:
        if self._guard is not None:
            self._guard.__exit__()
            self._guard = None


class _ImperativeEngine:
    """The engine as other libraries reach it, `Variable._execution_engine`."""

    queue_callback = staticmethod(running.queue_callback)
    is_checkpoint_valid = staticmethod(running.is_checkpoint_valid)

    @staticmethod
    def run_backward(
        tensors: Any,
        grad_tensors: Any,
        keep_graph: bool,
        create_graph: bool,
        inputs: Any = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> Any:
        """Run a pass from `tensors`; return the gradients of `inputs`, None when they, or all leaves, accumulate.

        Raises torch's RuntimeErrors for arguments that fit no pass.
        """
        for name, value in (("tensors", tensors), ("grad_tensors", grad_tensors)):
            if not isinstance(value, tuple):
                raise RuntimeError(f"{name} argument is expected to be a tuple, but got {type(value).__name__}")
        if len(tensors) != len(grad_tensors):
            raise RuntimeError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
        for index, (tensor, grad) in enumerate(zip(tensors, grad_tensors, strict=True)):
            _check_root(index, tensor, grad)
        return run_roots(
            tensors,
            grad_tensors,
            inputs,
            keep_graph=keep_graph,
            create_graph=create_graph,
            allow_unused=allow_unreachable,
            capture=not accumulate_grad and bool(inputs),
        )


def _check_root(index: int, tensor: Any, grad: Any) -> None:
    if not isinstance(tensor, (TensorBase, GradientEdge)):
        raise RuntimeError(f"element {index} of tensors tuple is neither a Tensor nor a GradientEdge")
    if isinstance(tensor, TensorBase) and not tensor.requires_grad:
        raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    if grad is None:
        raise RuntimeError(f"element {index} of gradients tuple is None, but the corresponding Tensor requires grad")
    if not isinstance(grad, TensorBase):
        raise RuntimeError(f"element {index} of gradients tuple is not a Tensor or None")


adopt(globals())
_set_grad_enabled.__module__ = "torch._C"  # graphs name it
