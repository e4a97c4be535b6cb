"""Modes that see every operator, and tensors that wrap others."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.state import state

__all__ = [
    "TorchDispatchMode",
    "any_torch_dispatch_mode_on_stack",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "transform_subclass",
]

#: Whether the dispatcher calls modes; it sets this when it learns to.
supported = [False]


class TorchDispatchMode:
    """Inside the block, ``__torch_dispatch__(func, types, args, kwargs)`` is called instead of every operator."""

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            self.__dict__["_dispatch_key"] = _dispatch_key
        self._entered: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        if not supported[0]:
            raise NotImplementedError("TorchDispatchMode: the dispatcher does not call Python modes yet")
        self._entered.append(state.mode.dispatch_modes)
        state.mode = state.mode.replace(dispatch_modes=(*state.mode.dispatch_modes, self))
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        state.mode = state.mode.replace(dispatch_modes=self._entered.pop())

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """The older way to make a mode."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether this mode belongs to the machinery rather than to the user."""
        return False


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The active modes, outermost first."""
    return list(state.mode.dispatch_modes)


def _get_current_dispatch_mode() -> Any:
    """The innermost active mode."""
    modes = state.mode.dispatch_modes
    return modes[-1] if modes else None


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether any mode is active."""
    return any(include_infra_modes or not mode.is_infra_mode() for mode in state.mode.dispatch_modes)


def any_torch_dispatch_mode_on_stack() -> bool:
    """Whether any mode is active."""
    return bool(state.mode.dispatch_modes)


def _unwraps(kind: type) -> bool:
    return hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a value is a tensor that can be taken apart into plain ones and put together again."""
    return isinstance(t, torch.Tensor) and type(t) is not torch.Tensor and _unwraps(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a type is one of tensors that can be taken apart."""
    return isinstance(t, type) and issubclass(t, torch.Tensor) and t is not torch.Tensor and _unwraps(t)


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """Rebuild a wrapper with ``callback(name, inner)`` in place of each inner tensor."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    rebuilt = type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)
    if tuple(rebuilt.shape) != tuple(outer_size):
        raise AssertionError(
            f"Expected return value from {type(t)}__tensor_unflatten__() to have shape equal to {outer_size}, "
            f"but got: {rebuilt.shape}"
        )
    return rebuilt


adopt(globals())
