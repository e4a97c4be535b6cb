"""How a function in Python asks its arguments for `__torch_function__`: what `torch.overrides` shows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mindtorch_dispatch.override import overrides as dispatched
from mindtorch_dispatch.state import state

from ._naming import adopt


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Return whether one of the arguments overrides, or there are arguments and a mode is active.

    >>> torch.overrides.has_torch_function((torch.ones(1),))
    False
    """
    try:
        values = list(relevant_args)
    except TypeError:
        raise TypeError("expected a sequence") from None
    if not values or not dispatched.enabled():
        return False
    return bool(state.mode.function_modes) or (dispatched.types_override() and any(map(dispatched.overriding, values)))


def has_torch_function_unary(inp: Any) -> bool:
    """As `has_torch_function((inp,))`.

    >>> torch.overrides.has_torch_function_unary(torch.ones(1))
    False
    """
    return has_torch_function((inp,))


def has_torch_function_variadic(*args: Any) -> bool:
    """As `has_torch_function(args)`.

    >>> torch.overrides.has_torch_function_variadic(torch.ones(1), 2)
    False
    """
    return has_torch_function(args)


for _builtin in (has_torch_function, has_torch_function_unary, has_torch_function_variadic):
    _builtin.__name__ = f"_{_builtin.__name__}"  # torch's are built-in functions, of which this is the name


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """Return what the innermost mode or the first overriding argument answers; TypeError when none does.

    >>> class Asked(torch.Tensor):
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> value = torch.ones(1).as_subclass(Asked)
    >>> torch.overrides.handle_torch_function(torch.add, (value,), value, 1)
    'add'
    """
    asked = [one for one in relevant_args if dispatched.overriding(one)] if dispatched.types_override() else []
    overloaded = dispatched.overloaded_arguments(asked)
    handled, result = dispatched.ask(public_api, overloaded, args, kwargs, DeprecationWarning)
    if handled:
        return result
    raise dispatched.none_found(public_api, overloaded)


adopt(globals(), "torch.overrides")
