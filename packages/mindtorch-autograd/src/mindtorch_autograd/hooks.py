"""Handles of registered hooks."""

from __future__ import annotations

import itertools
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """Removes a hook: `handle.remove()`, or leave a `with` block on it."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.hooks = hooks
        self.id = next(_ids)

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


handle_class: list[Any] = [RemovableHandle]
"""The class of handles; the surface installs `torch.utils.hooks.RemovableHandle`."""


def add_hook(hooks: dict[int, Any], fn: Any) -> Any:
    """Put `fn` into `hooks` and return its handle."""
    handle = handle_class[0](hooks)
    hooks[handle.id] = fn
    return handle
