"""Grad mode, inference mode: thread-local switches, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast, overload

from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor

_CLASS_TEXT = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and "
    "nothing else."
)

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread.

    >>> torch.is_grad_enabled()
    True
    """
    return state.mode.grad


def is_inference_mode_enabled() -> bool:
    """Return whether inference mode is on in this thread.

    >>> with torch.inference_mode():
    ...     torch.is_inference_mode_enabled()
    True
    >>> torch.is_inference_mode_enabled()
    False
    """
    return state.mode.inference


class ModeContext:
    """Base of the mode switches: a context manager that also decorates functions and generators.

    A decorated coroutine function is only *called* under the mode, as in torch; use `with` inside of it.
    """

    def __enter__(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define __enter__")

    def __exit__(self, *exc_info: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define __exit__")

    def clone(self) -> Any:
        """Return a fresh context of the same settings, for one use."""
        return type(self)()

    def __call__(self, orig_func: F) -> F:
        """Decorate `orig_func` so that each call (each step, for generators) runs under this mode."""
        if inspect.isclass(orig_func):
            warnings.warn(_CLASS_TEXT, FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(orig_func):
            return cast(F, _decorated_generator(self, orig_func))

        @functools.wraps(orig_func)
        def wrapped(*args: object, **kwargs: object) -> Any:
            with self.clone():
                return orig_func(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


def _decorated_generator(context: ModeContext, fn: Callable[..., Any]) -> Any:
    """Run each step of a generator under the mode, and none of what happens between the steps."""

    @functools.wraps(fn)
    def generator(*args: object, **kwargs: object) -> Any:
        inner = fn(*args, **kwargs)
        try:
            with context.clone():
                response = inner.send(None)
            while True:
                try:
                    request = yield response
                except GeneratorExit:
                    with context.clone():
                        inner.close()
                    raise
                except BaseException as error:  # noqa: BLE001 (handed into the generator, which decides)
                    with context.clone():
                        response = inner.throw(error)
                else:
                    with context.clone():
                        response = inner.send(request)
        except StopIteration as stop:
            return stop.value

    return generator


class NoParamContext(ModeContext):
    """A mode switch without settings: usable bare as decorator, `@no_grad`, as well as called."""

    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    @overload
    def __new__(cls, orig_func: Callable[..., Any]) -> Any: ...
    def __new__(cls, orig_func: object = None) -> Any:
        if orig_func is None:
            return object.__new__(cls)
        return cls()(cast(Callable[..., Any], orig_func))

    def __exit__(self, *exc_info: object) -> None:
        state.mode = state.mode.with_grad(self.prev)  # type: ignore[attr-defined]


class no_grad(NoParamContext):
    """Operations in the block are not recorded.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        mode = state.mode
        self.prev = mode.grad
        state.mode = mode.with_grad(False)


class enable_grad(NoParamContext):
    """Operations in the block are recorded, whatever the mode outside is.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.no_grad():
    ...     with torch.enable_grad():
    ...         y = x * 2
    >>> y.requires_grad
    True
    """

    __module__ = "torch.autograd.grad_mode"

    def __enter__(self) -> None:
        mode = state.mode
        self.prev = mode.grad
        state.mode = mode.with_grad(True)


class set_multithreading_enabled(ModeContext):
    """Accepted for torch's sake: backward always runs in the calling thread, so there is nothing to switch.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     (x * 2).backward()
    >>> x.grad
    tensor([2.])
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, mode: bool) -> None:
        self.prev = multithreading.enabled
        multithreading.enabled = mode
        self.mode = mode

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, *exc_info: object) -> None:
        multithreading.enabled = self.prev

    def clone(self) -> set_multithreading_enabled:
        """Return a fresh context of the same setting."""
        return type(self)(self.mode)


class enforce_grad_layout_policy(ModeContext):
    """Whether a first gradient whose layout is not the leaf's is copied into the leaf's (the default) or taken as it is;
    switched at once when called, and back at the end of the block when used in `with`.

    >>> with torch.autograd.enforce_grad_layout_policy(True):
    ...     weight = torch.ones(2, 3, requires_grad=True)
    ...     (weight.t() * torch.ones(3, 2)).sum().backward()
    >>> weight.grad.stride()
    (3, 1)
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, enable: bool = True) -> None:
        self.prev = layout_policy.enforced
        set_layout_policy(enable)
        self.mode = enable

    def __call__(self, orig_func: F) -> F:
        """Decorate `orig_func`; the switch made by the constructor is taken back."""
        layout_policy.enforced = self.prev
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        layout_policy.enforced = self.mode

    def __exit__(self, *exc_info: object) -> None:
        layout_policy.enforced = self.prev

    def clone(self) -> enforce_grad_layout_policy:
        """Return a fresh context of the same setting."""
        return type(self)(self.mode)


class _LayoutPolicy(threading.local):
    enforced = True


layout_policy = _LayoutPolicy()


def set_layout_policy(enabled: bool) -> None:
    """Switch the policy of this thread; TypeError for what is no bool."""
    if not isinstance(enabled, bool):
        raise TypeError(
            "set_grad_layout_enforcement_enabled(): argument 'enabled' (position 1) must be bool, not "
            f"{type(enabled).__name__}"
        )
    layout_policy.enforced = enabled


class preserved_version_counter(ModeContext):
    """The tensors' version counters are after the block what they were before it."""

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, tensors: Tensor) -> None:
        self.tensors = tuple(tensors) if isinstance(tensors, (tuple, list)) else (tensors,)
        self.versions = tuple(tensor._version for tensor in self.tensors)

    def __enter__(self) -> None:
        """Nothing changes until the end."""

    def __exit__(self, *exc_info: object) -> None:
        for tensor, version in zip(self.tensors, self.versions, strict=True):
            tensor._counter[0] = version


class _Multithreading(threading.local):
    enabled = True


multithreading = _Multithreading()


class set_grad_enabled(ModeContext):
    """Switch recording on or off: at once when called, and back at the end of the block when used in `with`.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.set_grad_enabled(False):
    ...     (x * 2).requires_grad
    False
    """

    __module__ = "torch.autograd.grad_mode"

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.mode = mode
        before = state.mode
        self.prev = before.grad
        state.mode = before.with_grad(mode)

    def __call__(self, orig_func: F) -> F:
        """Decorate `orig_func`; the switch made by the constructor is taken back."""
        state.mode = state.mode.with_grad(self.prev)
        return super().__call__(orig_func)

    def __enter__(self) -> None:
        state.mode = state.mode.with_grad(self.mode)

    def __exit__(self, *exc_info: object) -> None:
        state.mode = state.mode.with_grad(self.prev)

    def clone(self) -> set_grad_enabled:
        """Return a fresh context of the same setting."""
        made = type(self).__new__(type(self))
        made.mode = self.mode
        made.prev = state.mode.grad
        return made

    def __repr__(self) -> str:
        return f"{self.__class__.__module__}.{self.__class__.__name__}(mode={self.mode})"


class inference_mode(ModeContext):
    """As `no_grad`, and tensors made in the block can never enter a graph.

    >>> x = torch.ones(1, requires_grad=True)
    >>> with torch.inference_mode():
    ...     y = x * 2
    >>> y.is_inference(), y.requires_grad
    (True, False)
    """

    __module__ = "torch.autograd.grad_mode"

    def __new__(cls, mode: bool = True) -> Any:
        if isinstance(mode, bool):
            return object.__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        mode = state.mode
        self._before = (mode.inference, mode.grad)
        state.mode = mode.with_inference(self.mode, not self.mode)

    def __exit__(self, *exc_info: object) -> None:
        state.mode = state.mode.with_inference(*self._before)

    def clone(self) -> inference_mode:
        """Return a fresh context of the same setting."""
        return type(self)(self.mode)
