"""Context managers that are decorators too (``no_grad`` and its relatives)."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt


def _wrap_generator(ctx_factory: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    """Hold the context while a generator runs, and only then: it is left at each ``yield``."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        inner = func(*args, **kwargs)
        try:
            with ctx_factory():
                response = inner.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with ctx_factory():
                        inner.close()
                    raise
                except BaseException as error:  # noqa: BLE001 - whatever the caller threw belongs to the inner generator
                    with ctx_factory():
                        response = inner.throw(error)
                else:
                    with ctx_factory():
                        response = inner.send(request)
        except StopIteration as stop:
            return stop.value

    return wrapped


def context_decorator(ctx: Any, func: Any) -> Any:
    """Run ``func`` inside a context. ``ctx`` is a context manager, or a callable that makes one per call."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager "
            "(has __enter__), making it ambiguous which interface to use.  If you "
            "intended to pass a context manager factory, rewrite your call as "
            "context_decorator(lambda: ctx()); if you intended to pass a context "
            "manager directly, rewrite your call as context_decorator(lambda: ctx)"
        )
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the "
            "constructor or all methods should have the context manager applied; "
            "additionally, decorating a class at definition-site will prevent "
            "use of the identifier as a conventional type.  "
            "To specify which methods to decorate, decorate each of them "
            "individually."
        )
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(make, func)

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return wrapped


class _DecoratorContextManager:
    """A context manager that decorates functions: each call enters a fresh copy made by :meth:`clone`."""

    def __call__(self, orig_func: Any) -> Any:
        if inspect.isclass(orig_func):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            make = orig_func
            func: Any = lambda *args, **kwargs: make(*args, **kwargs)  # noqa: E731 - a fresh function, not the class
        else:
            func = orig_func
        return context_decorator(self.clone, func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """A fresh manager with the same options."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same, usable without the call: ``@no_grad`` as well as ``@no_grad()``."""

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)


adopt(globals())
