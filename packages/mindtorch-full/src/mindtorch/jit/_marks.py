"""Marks for a TorchScript compiler, kept where torch keeps them. Nothing here reads them."""

import contextlib
import threading
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Final

__all__ = ["Final", "annotate", "export", "ignore", "is_scripting", "isinstance", "unused"]

_EXPORT = "export (compile this function even if nothing calls it)"
_IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
_UNUSED = "unused (ignored and replaced with raising of an exception)"


def make_attribute(value: Any, type: Any) -> Any:
    """Return ``value``, as torch does with TorchScript off."""
    return value


class _Running(threading.local):
    """Whether a scripted module runs in this thread."""

    depth = 0


_running = _Running()


@contextlib.contextmanager
def scripting() -> Iterator[None]:
    """In here, `is_scripting` is true: a scripted module runs its source in Python."""
    _running.depth += 1
    try:
        yield
    finally:
        _running.depth -= 1


def is_scripting() -> bool:
    """Return whether this code is compiled, or run for a scripted module."""
    return _running.depth > 0


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method to be compiled, and return it.

    >>> @torch.jit.export
    ... def twice(x):
    ...     return 2 * x
    >>> twice(1)
    2
    """
    fn._torchscript_modifier = _EXPORT  # type: ignore[attr-defined]
    return fn


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method to be replaced by an error when compiled, and return it.

    >>> torch.jit.unused(lambda x: x + 1)(1)
    2
    """
    if isinstance_(fn, property):
        for part in (fn.fget, fn.fset):
            if part is not None:
                part._torchscript_modifier = _UNUSED
        return fn
    fn._torchscript_modifier = _UNUSED  # type: ignore[attr-defined]
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a method to stay in Python when compiled, and return it; usable bare and called.

    >>> torch.jit.ignore(lambda x: x + 1)(1)
    2
    """
    if callable(drop):
        drop._torchscript_modifier = _IGNORE
        return drop
    if not isinstance_(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    dropping = kwargs.pop("drop_on_export", None)
    if dropping:
        warnings.warn(
            "ignore(drop_on_export=True) has been deprecated. TorchScript will now drop the function call on "
            "compilation. Use torch.jit.unused now. {}",
            category=FutureWarning,
            stacklevel=2,
        )
        drop = dropping
    elif drop:
        warnings.warn(
            "ignore(True) has been deprecated. TorchScript will now drop the function call on compilation. Use "
            "torch.jit.unused now. {}",
            category=FutureWarning,
            stacklevel=2,
        )

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        fn._torchscript_modifier = _UNUSED if drop else _IGNORE  # type: ignore[attr-defined]
        return fn

    return decorator


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return ``the_value``; ``the_type`` is for the compiler.

    >>> torch.jit.annotate(list[int], [])
    []
    """
    return the_value


isinstance_ = isinstance

_CONTAINERS = (list, dict, tuple, typing.List, typing.Dict, typing.Tuple, typing.Optional)  # noqa: UP006


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether ``obj`` is of ``target_type``, which may be a container with the types of its elements.

    >>> torch.jit.isinstance([1, 2], list[int])
    True
    >>> torch.jit.isinstance(["a"], list[int])
    False
    """
    if isinstance_(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    if target_type in _CONTAINERS:
        name = getattr(target_type, "__name__", None) or target_type._name
        missing = "contained types. Please add" if name.lower() == "dict" else "a contained type. Please add a"
        inner = "int, int" if name.lower() == "dict" else "int"
        raise RuntimeError(f"Attempted to use {name} without {missing} contained type, e.g. {name}[{inner}]")
    origin, parts = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is None:
        return isinstance_(obj, target_type)
    if origin in (list, dict, tuple) and isinstance_(obj, origin) and not obj:
        warnings.warn(
            "The inner type of a container is lost when calling torch.jit.isinstance in eager mode. For example, "
            "List[int] would become list and therefore falsely return True for List[float] or List[str].",
            stacklevel=2,
        )
    if origin is list:
        return isinstance_(obj, list) and all(isinstance(one, parts[0]) for one in obj)
    if origin is dict:
        return isinstance_(obj, dict) and all(
            isinstance(k, parts[0]) and isinstance(v, parts[1]) for k, v in obj.items()
        )
    if origin is tuple:
        return isinstance_(obj, tuple) and len(obj) == len(parts) and all(map(isinstance, obj, parts))
    return any(isinstance(obj, one) for one in parts)
