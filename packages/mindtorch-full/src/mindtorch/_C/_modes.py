"""The stacks of Python modes, and the guards that keep overrides from applying."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.override.handlers import PYTHON_MASK, pushed
from mindtorch_dispatch.override.handlers import disabled_torch_dispatch as _disabled_torch_dispatch_impl
from mindtorch_dispatch.state import ALL_OVERRIDE, NONE_OVERRIDE, ONLY_MODES_OVERRIDE, state

from ..tensor.asked_attributes import replaced

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_DisableTorchDispatch",
    "_TorchDispatchModeKey",
    "_disabled_torch_dispatch_impl",
    "_get_dispatch_stack_at",
    "_get_function_stack_at",
    "_has_torch_function",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_len_torch_dispatch_stack",
    "_len_torch_function_stack",
    "_pop_torch_dispatch_stack",
    "_pop_torch_function_stack",
    "_push_on_torch_dispatch_stack",
    "_push_on_torch_function_stack",
]


class _TorchDispatchModeKey(enum.IntEnum):
    """Names of the modes that belong to the machinery; they stand below a program's own."""

    FAKE = 0
    PROXY = 1
    FUNCTIONAL = 2


class _Guard:
    """A block in which one part of the thread's mode has another value."""

    def __init__(self) -> None:
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(state.mode)
        state.mode = self._changed()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        before = self._before.pop()
        state.mode = state.mode.replace(function_override=before.function_override, exclude=before.exclude)

    def _changed(self) -> Any:
        raise NotImplementedError


class DisableTorchFunctionSubclass(_Guard):
    """In the block no tensor subclass overrides functions; modes still do."""

    def _changed(self) -> Any:
        return state.mode.replace(function_override=max(ONLY_MODES_OVERRIDE, state.mode.function_override))


class DisableTorchFunction(_Guard):
    """In the block nothing overrides functions."""

    def _changed(self) -> Any:
        return state.mode.replace(function_override=NONE_OVERRIDE)


class _DisableTorchDispatch(_Guard):
    """In the block no ``__torch_dispatch__`` is asked."""

    def _changed(self) -> Any:
        return state.mode.replace(exclude=state.mode.exclude | PYTHON_MASK)


for _guard in (DisableTorchFunctionSubclass, DisableTorchFunction, _DisableTorchDispatch):
    _guard.__module__ = "torch._C"


def _is_torch_function_enabled() -> bool:
    return state.mode.function_override == ALL_OVERRIDE


def _is_torch_function_all_disabled() -> bool:
    return state.mode.function_override == NONE_OVERRIDE


def _is_torch_function_mode_enabled() -> bool:
    return bool(state.mode.function_modes) and state.mode.function_override != NONE_OVERRIDE


def _has_torch_function(values: Iterable[Any]) -> bool:
    return overrides.types_override() and any(map(overrides.overriding, values))


def _len_torch_dispatch_stack() -> int:
    return len(state.mode.dispatch_modes)


def _get_dispatch_stack_at(place: int) -> Any:
    return state.mode.dispatch_modes[place]


def _push_on_torch_dispatch_stack(mode: Any) -> None:
    state.mode = state.mode.replace(dispatch_modes=pushed(state.mode.dispatch_modes, mode))


def _pop_torch_dispatch_stack(key: Any = None) -> Any:
    modes = state.mode.dispatch_modes
    place = len(modes) - 1
    if key is not None:
        place = next((i for i, mode in enumerate(modes) if getattr(mode, "_mode_key", None) == key), -1)
    if place < 0:
        raise AssertionError("Trying to pop from empty mode stack")
    state.mode = state.mode.replace(dispatch_modes=modes[:place] + modes[place + 1 :])
    return modes[place]


def _len_torch_function_stack() -> int:
    return len(state.mode.function_modes)


def _get_function_stack_at(place: int) -> Any:
    return state.mode.function_modes[place]


def _push_on_torch_function_stack(mode: Any) -> None:
    state.mode = state.mode.replace(function_modes=(*state.mode.function_modes, mode))
    replaced.enter(mode)


def _pop_torch_function_stack() -> Any:
    modes = state.mode.function_modes
    if not modes:
        raise RuntimeError("trying to pop from empty mode stack")
    state.mode = state.mode.replace(function_modes=modes[:-1])
    replaced.leave(modes[-1])
    return modes[-1]
