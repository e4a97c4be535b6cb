"""Hooks that run around ``step`` of every optimizer in the process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from mindtorch.utils.hooks import RemovableHandle

global_pre_hooks: dict[int, Callable[..., Any]] = OrderedDict()
global_post_hooks: dict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before every ``step`` of every optimizer.

    >>> from torch.optim.optimizer import register_optimizer_step_pre_hook
    >>> handle = register_optimizer_step_pre_hook(
    ...     lambda optimizer, args, kwargs: print("before", type(optimizer).__name__)
    ... )
    >>> torch.optim.SGD([torch.ones(1, requires_grad=True)]).step()
    before SGD
    >>> handle.remove()
    """
    return add_hook(global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after every ``step`` of every optimizer.

    >>> from torch.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(
    ...     lambda optimizer, args, kwargs: print("after", type(optimizer).__name__)
    ... )
    >>> torch.optim.SGD([torch.ones(1, requires_grad=True)]).step()
    after SGD
    >>> handle.remove()
    """
    return add_hook(global_post_hooks, hook)


def add_hook(hooks: Any, hook: Callable[..., Any], *, prepend: bool = False) -> RemovableHandle:
    """Add ``hook`` to an ordered dictionary of hooks and return the handle that removes it."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
