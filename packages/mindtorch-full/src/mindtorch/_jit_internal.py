"""`torch._jit_internal`: marks for the compiler of TorchScript. Nothing is compiled, so they leave functions as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._naming import adopt
from .jit._marks import Final, export, ignore, is_scripting, unused

__all__ = ["Final", "export", "ignore", "is_scripting", "unused"]


def _copy_to_script_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function: a scripted module would have it too."""
    return fn


def _overload(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, one of several signatures."""
    return func


_overload_method = _overload


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Callable[..., Any]:
    """Return a function that is one of two, by a bool among its arguments."""

    def fn(*args: Any, **kwargs: Any) -> Any:
        chosen = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return (if_true if chosen else if_false)(*args, **kwargs)

    fn.__name__ = func_name
    fn.__module__ = module_name
    return fn


adopt(globals())
