"""How functions and methods that Python computes take part in `__torch_function__`.

Operators of the table ask by themselves. What is written in Python is changed here, all of a module at once: a call asks
modes and argument types first, and only a call that they leave alone runs. A plain call pays one look at its arguments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from mindtorch_dispatch.call import method as method_of
from mindtorch_dispatch.interface.native import guarded_by, native_path, shortcut_to
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.plan import plain_types
from mindtorch_dispatch.state import state


def _concerns(args: Iterable[Any]) -> bool:
    """True when a mode is active or an argument may override."""
    if state.mode.function_modes:
        return True
    for arg in args:
        kind = type(arg)
        if kind in overrides.DULL or kind in plain_types:
            continue
        if kind is tuple or kind is list:
            if any(type(item) not in plain_types and overrides.overriding(item) for item in arg):
                return True
        elif overrides.overriding(arg):
            return True
    return False


def by_name(function: Callable[..., Any], positional: bool = True) -> Callable[..., Any]:
    """Return `function` asking first. Who is asked gets every parameter: by name those that have a default, or all of
    them unless `positional`."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == 1 and type(args[0]) in plain_types and not state.mode.function_modes:
            return function(args[0])  # as below, for what is called most
        if not _concerns(args) and not (kwargs and _concerns(kwargs.values())):
            return function(*args, **kwargs)
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError:
            return function(*args, **kwargs)  # raises what a wrong call raises
        given.apply_defaults()
        first: list[Any] = []
        named: dict[str, Any] = {}
        for name, value in given.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                first.extend(value)
            elif positional and parameter.default is parameter.empty:
                first.append(value)
            else:
                named[name] = value
        handled, result = overrides.handle_python(call, first, named)
        return result if handled else function(*args, **kwargs)

    return call


def as_given(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` asking first. Who is asked gets the arguments as they were written."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == 1 and type(args[0]) in plain_types and not state.mode.function_modes:
            return function(args[0])  # as below, for what is called most
        if not _concerns(args) and not (kwargs and _concerns(kwargs.values())):
            return function(*args, **kwargs)
        handled, result = overrides.handle(call, args, kwargs)
        return result if handled else function(*args, **kwargs)

    return call


def one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `as_given`, where operands that follow a text as a list reach who is asked one by one."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not _concerns(args):
            return function(*args)
        given = args
        if len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], list | tuple):
            given = (args[0], *args[1])
        handled, result = overrides.handle_python(call, given, {})
        return result if handled else function(*args)

    return call


def method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """As `as_given`, for the method `name` of tensors, of which only the tensor itself matters to the quick look."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if type(self) in plain_types and not state.mode.function_modes:
            return function(self, *args, **kwargs)
        handled, result = overrides.handle(made, (self, *args), kwargs)
        return result if handled else function(self, *args, **kwargs)

    call.__name__ = function.__name__ if function.__name__ in _DUNDERS else name
    made = guarded_by(call, function, name)
    if name in shortcuts:
        form, kind, constants = shortcuts[name]
        made = shortcut_to(method_of(form), kind, constants, made)  # type: ignore[arg-type]  # they are operators
    return made


shortcuts: dict[str, tuple[str, type, tuple[Any, ...]]] = {}
"""Methods that are an operator's call for an argument of one type, or without one: see `shortcut_to`."""


_NAMED = frozenset("backward istft stft lu norm split unique unique_consecutive".split())
"""Methods that pass the parameters with a default on by name."""


_OF_TWO = frozenset({"module_load"})
"""Methods that a second tensor may override, where the first is plain."""


def make_overridable(
    namespace: dict[str, Any], names: Iterable[str], change: Callable[..., Any] = by_name, **options: Any
) -> None:
    """Change the functions of a module that are written in Python; what is an operator of the table stays."""
    for name in names:
        function = namespace.get(name)
        if isinstance(function, FunctionType) and function.__module__.startswith(("mindtorch", "torch")):
            namespace[name] = change(function, **options)


NOT_ASKED = frozenset("__hash__ __dir__ __new__ __init__ as_subclass new new_tensor reinforce unflatten".split())
"""Methods that torch does not let be overridden, or that only subclasses with an override of their own ask for."""

_DUNDERS = frozenset(
    f"__{name}__"
    for name in "bool int float complex index contains array array_wrap repr format deepcopy reduce_ex setstate reversed "
    "nonzero long rsub rtruediv rdiv div rpow rfloordiv rmod rmatmul rlshift rrshift pos getitem setitem dlpack "
    "dlpack_device len".split()
) | {"_clear_non_serializable_cached_data", "_is_view"}


def make_methods_overridable(owners: Iterable[type]) -> None:
    """Change the methods of tensors that are written in Python, but for those that are `NOT_ASKED`."""
    for owner in owners:
        for name, value in list(vars(owner).items()):
            public = not name.startswith("_") or name in _DUNDERS
            if public and name not in NOT_ASKED and isinstance(value, FunctionType):
                change = by_name if name in _NAMED else as_given if name in _OF_TWO else None
                setattr(owner, name, method(value, name) if change is None else change(value))


def override_geometry(cls: type, base: type) -> None:
    """Let the subclass `cls`, which has an override of its own, be asked for properties and small makers too."""
    if not overrides.overriding(cls) or overrides.inherits_default(cls):
        return
    for name in dir(base):
        if name.startswith("_") and name not in ("_base", "_version", "_grad"):
            continue
        value = inspect.getattr_static(base, name)
        if inspect.getattr_static(cls, name) is not value:
            continue
        if isinstance(value, property):
            setattr(cls, name, _asking_property(value))
        elif name in NOT_ASKED and name != "as_subclass" and isinstance(value, native_path.types):
            setattr(cls, name, _asking_method(value))  # type: ignore[arg-type]  # one of the callable types


def _asking_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that asks about `function`, which is what the asked one gets."""

    @functools.wraps(function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        handled, result = overrides.handle(function, (self, *args), kwargs)
        return result if handled else function(self, *args, **kwargs)

    return call


def _asking_property(value: property) -> property:
    def get(self: Any) -> Any:
        handled, result = overrides.handle(value.__get__, (self,), {})
        return result if handled else value.__get__(self)

    def put(self: Any, new: Any) -> None:
        handled, _ = overrides.handle(value.__set__, (self, new), {})
        if not handled:
            value.__set__(self, new)

    def drop(self: Any) -> None:
        handled, _ = overrides.handle(value.__delete__, (self,), {})
        if not handled:
            value.__delete__(self)

    return property(get, put, drop, value.__doc__)
