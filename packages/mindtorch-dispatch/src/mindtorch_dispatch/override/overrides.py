"""`__torch_function__`: Python overrides of a call, by modes first and then by argument types."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.size import Size
from mindtorch_storage.tensor_base import TensorBase

from ..frames import frames_to_caller
from ..interface.wiring import wired
from ..state import ALL_OVERRIDE, NONE_OVERRIDE, ONLY_MODES_OVERRIDE, mode_set, state


def overloaded_arguments(values: Sequence[Any]) -> list[Any]:
    """Return the arguments (lists searched one level) that override, subclasses before their bases."""
    found: list[Any] = []
    types: list[type] = []
    for value in values:
        for item in value if isinstance(value, (list, tuple)) and not overrides_as_tuple(type(value)) else (value,):
            kind = type(item)
            if kind in DULL or kind in types or not _overrides(kind):
                continue
            types.append(kind)
            position = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
            found.insert(position, item)
    return found


DULL = frozenset((int, float, bool, str, complex, type(None)))
"""Types of arguments that never override and hold nothing that does, as most have."""


def overrides_as_tuple(kind: type) -> bool:
    """Return whether a type of tuples stands for a tensor, as named tuples of a tensor and what goes with it do."""
    return kind is not tuple and kind is not list and kind is not Size and hasattr(kind, "__torch_function__")


def overriding(value: object) -> bool:
    """Return whether the type of `value` has an override of its own, or `value` is such a type."""
    return _overrides(value if isinstance(value, type) else type(value))


def _overrides(kind: type) -> bool:
    function = getattr(kind, "__torch_function__", None)
    return function is not None and function is not disabled_torch_function and not _is_base_default(kind)


def _is_base_default(kind: type) -> bool:
    if not issubclass(kind, TensorBase):
        return False
    for owner in kind.__mro__:
        if "__torch_function__" in owner.__dict__:
            return owner is wired.override_owner and kind in default_plain
    return True


def inherits_default(kind: type) -> bool:
    """Return whether the override of a tensor type is the default one, which only wraps results."""
    owner = next((one for one in kind.__mro__ if "__torch_function__" in one.__dict__), None)
    return owner is not None and owner is wired.override_owner


default_plain: set[type] = set()
"""Classes whose results need no wrapping although they inherit the default (Tensor, Parameter)."""


class _Disabled:
    """A `__torch_function__` that overrides nothing: assign it to opt a subclass out.

    An object, not a function: classes and their tensors give it as it is, unbound, so that a handler may call it.
    """

    __name__ = "_disabled_torch_function_impl"
    __slots__ = ()

    def __call__(self, *given: Any) -> Any:
        if not 2 <= len(given) <= 4:
            bound = "at least 2" if len(given) < 2 else "at most 4"
            raise TypeError(f"function takes {bound} arguments ({len(given)} given)")
        left_out: tuple[Any, ...] = ((), None)
        func, _, args, kwargs = (*given, *left_out[len(given) - 2 :])
        with mode_set(function_override=max(ONLY_MODES_OVERRIDE, state.mode.function_override)):
            return func(*args, **(kwargs or {}))

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"


disabled_torch_function: Callable[..., Any] = _Disabled()


def handle(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Return (True, result) when a mode or an argument type took the call of a native function, else (False, None).

    Raises TypeError with torch's text when every override answered NotImplemented.
    """
    if not enabled():
        return False, None
    overloaded = overloaded_arguments((*args, *kwargs.values())) if types_override() else []
    handled, result = ask(func, overloaded, args, kwargs)
    if handled:
        return True, result
    modes = state.mode.function_modes
    if overloaded or modes:
        raise TypeError(_all_refused(func, modes[-1] if modes else None, overloaded))
    return False, None


def handle_python(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """As `handle`, for a function that is Python in torch too, whose text is another one when all decline."""
    if not enabled():
        return False, None
    overloaded = overloaded_arguments((*args, *kwargs.values())) if types_override() else []
    if not overloaded and not state.mode.function_modes:
        return False, None
    handled, result = ask(func, overloaded, tuple(args), kwargs, DeprecationWarning)
    if handled:
        return True, result
    raise none_found(func, overloaded)


def none_found(func: Callable[..., Any], overloaded: Sequence[Any]) -> TypeError:
    """Return torch's error for a Python function that nobody who was asked implements."""
    text = (
        f"no implementation found for '{func.__module__}.{func.__name__}' on types that implement __torch_function__: "
        f"{[type(one) for one in overloaded]}"
    )
    modes = state.mode.function_modes
    return TypeError(f"{text} nor in mode {modes[-1]}" if modes else text)


def enabled() -> bool:
    """Return whether overrides apply to the call at hand; False once after `redispatch_function` asked for it."""
    if state.skip_override:
        state.skip_override = False
        return False
    return state.mode.function_override != NONE_OVERRIDE


def types_override() -> bool:
    """Return whether the types of arguments may override; otherwise only modes do."""
    return state.mode.function_override == ALL_OVERRIDE


def ask(
    func: Callable[..., Any],
    overloaded: Sequence[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    category: type[Warning] = UserWarning,
) -> tuple[bool, Any]:
    """Ask the innermost mode, then, where types override, the arguments in order: (True, result) of the first that answers.

    `category` is that of the warning about an override that is no classmethod: functions that are Python in torch have
    another, and give their override keywords that are empty, too.
    """
    given = (kwargs,) if kwargs or category is DeprecationWarning else ()
    types = tuple(type(item) for item in overloaded)
    modes = state.mode.function_modes
    if modes:
        method = modes[-1].__torch_function__
        if isinstance(getattr(method, "__self__", None), type):
            raise RuntimeError(
                "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain method"
            )
        with mode_set(function_modes=modes[:-1]):
            result = method(func, types, args, *given)
        if result is not NotImplemented:
            return True, result
    for item in overloaded if types_override() else ():
        method = item.__torch_function__
        if getattr(method, "__self__", None) is item:
            warnings.warn(
                "Defining your `__torch_function__ as a plain method is deprecated and will be an error in future, please "
                "define it as a classmethod.",
                category,
                stacklevel=frames_to_caller(),
            )
        result = method(func, types, args, *given)
        if result is not NotImplemented:
            return True, result
    return False, None


def _all_refused(func: Callable[..., Any], mode: object, overloaded: Sequence[Any]) -> str:
    owner = "Tensor." if is_method_form(func) else ""
    lines = [f"  - mode object {mode!r}"] if mode is not None else []
    lines += [f"  - tensor subclass {type(item)!r}" for item in overloaded]
    return (
        f"Multiple dispatch failed for '{func.__module__}.{owner}{func.__name__}'; all __torch_function__ handlers "
        "returned NotImplemented:\n\n" + "\n".join(lines) + "\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )


def is_method_form(func: Callable[..., Any]) -> bool:
    """Return whether `func` is an operator's method form, `torch.Tensor.add` and not `torch.add`."""
    owner = wired.override_owner
    return owner is not None and getattr(owner, getattr(func, "__name__", ""), None) is func


def has_stranger(values: Sequence[Any], depth: int = 2) -> bool:
    """Whether something that is no tensor overrides functions, as what stands for tensors while a graph is recorded.

    No argument holds lists deeper in each other than `depth`; one that does is refused later.
    """
    return any(
        depth > 0 and has_stranger(value, depth - 1)
        if isinstance(value, (list, tuple)) and not overrides_as_tuple(type(value))
        else hasattr(type(value), "__torch_function__") and not isinstance(value, TensorBase)
        for value in values
    )
