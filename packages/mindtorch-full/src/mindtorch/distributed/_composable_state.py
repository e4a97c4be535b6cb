"""What calls of composable interfaces keep for a module: it goes with the module."""

from __future__ import annotations

import weakref
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt


class _State:
    """What one call keeps."""


_module_state_mapping: weakref.WeakKeyDictionary[nn.Module, Any] = weakref.WeakKeyDictionary()


def _insert_module_state(module: nn.Module, state: _State) -> None:
    """Keep a state for a module that has none."""
    if module in _module_state_mapping:
        raise AssertionError(f"Inserting {module} more than once.")
    _module_state_mapping[module] = weakref.ref(state)


def _get_module_state(module: nn.Module) -> _State | None:
    """Return what is kept for a module: a module may be its own state."""
    if isinstance(module, _State):
        return module
    held = _module_state_mapping.get(module)
    return None if held is None else held()


adopt(globals())
