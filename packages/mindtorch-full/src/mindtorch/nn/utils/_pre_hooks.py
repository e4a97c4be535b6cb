"""Hooks before calls that change a module's parameters, and can undo that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.nn.modules.module import Module


def undone(module: Module, is_wanted: Callable[[Any], bool]) -> bool:
    """Undo what the first hook that is wanted did, and take the hook away; False where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if is_wanted(hook):
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return True
    return False
