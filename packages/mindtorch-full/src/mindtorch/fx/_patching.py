"""Names and methods that are replaced while a program is traced, and put back afterwards."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch.fx.node import map_aggregate
from mindtorch.fx.proxy import Proxy

_MISSING = object()


class Patcher:
    """Replaces items of dicts and attributes of classes; leaving it restores them, the last first."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self._visited: set[int] = set()

    def patch(self, frame: dict[str, Any], name: str, new: Callable[..., Any], deduplicate: bool = True) -> None:
        """Replace an item, which may be missing. `deduplicate` has no effect, as in torch: a second one replaces the first."""
        old = frame.get(name, _MISSING)
        frame[name] = new
        self._undo.append(lambda: frame.__setitem__(name, old) if old is not _MISSING else frame.__delitem__(name))

    def patch_method(self, cls: type, name: str, new: Callable[..., Any], deduplicate: bool = True) -> None:
        """Replace a method, which the class may inherit."""
        old = vars(cls).get(name, _MISSING)
        setattr(cls, name, new)
        self._undo.append(lambda: setattr(cls, name, old) if old is not _MISSING else delattr(cls, name))

    def visit_once(self, thing: Any) -> bool:
        """Return True the first time that it is called with `thing`."""
        known = id(thing) in self._visited
        self._visited.add(id(thing))
        return not known

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *args: Any) -> None:
        while self._undo:
            self._undo.pop()()


_wrapped_functions: dict[tuple[int, str], dict[str, Any]] = {}
"""What `wrap` was called with: the globals of a module, by their id and the function's name."""


def find_proxy(*values: Any) -> Proxy | None:
    """Return one of the proxies in nested containers, None where there is none."""
    found: list[Proxy] = []
    map_aggregate(values, lambda one: found.append(one) if isinstance(one, Proxy) else None)
    return found[0] if found else None


def wrapped_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` as a single step of the graph wherever it gets a proxy."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return call


def wrapped_method(cls: type, name: str) -> Callable[..., Any]:
    """Return a method as a single step of the graph wherever it gets a proxy."""
    method = getattr(cls, name)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return call


def patch_wrapped_functions(patcher: Patcher) -> None:
    """Replace every function that `wrap` was called with."""
    for (_, name), frame in list(_wrapped_functions.items()):
        if name not in frame and not hasattr(builtins, name):
            continue
        patcher.patch(frame, name, wrapped_function(frame.get(name, getattr(builtins, name, None))))


def patch_listed(patcher: Patcher, frame: dict[str, Any], ids: set[int]) -> None:
    """Replace the functions of a module that a tracer was told to keep whole."""
    if patcher.visit_once(frame):
        for name, value in list(frame.items()):
            if not name.startswith("_") and callable(value) and id(value) in ids:
                patcher.patch(frame, name, wrapped_function(value))


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Let a function of the calling module be one step of graphs, and return it; usable as a decorator.

    Raises:
        RuntimeError: neither a function nor a name.
        NotImplementedError: called elsewhere than at the top level of a module.

    >>> torch.fx.wrap("len")
    'len'
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    if frame is None or frame.f_back is None:
        raise RuntimeError("failed to get the frame of the caller")
    caller = frame.f_back
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_functions[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


@contextlib.contextmanager
def tracing() -> Iterator[None]:
    """Within the block `is_tracing` answers True."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


_depth = 0


def is_tracing() -> bool:
    """Return whether a program is being traced."""
    return _depth > 0


def all_positional(fn: Any, count: int) -> types.FunctionType:
    """Return `fn` with `count` positional parameters, its keyword-only and variable ones among them: one value is passed
    for each, and the variable ones are proxies like any other."""
    code = fn.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    changed = code.replace(co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    made = types.FunctionType(changed, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    made.__annotations__ = fn.__annotations__
    return made
