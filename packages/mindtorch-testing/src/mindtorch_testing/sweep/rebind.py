"""Makes torch's test callables run on another library.

An OpInfo holds a callable made of torch: a builtin, a method, or a lambda of torch's test files that reads a global
`torch`. A public function is found on the target by its qualified name. A function of the test files is rebuilt:
same code, but every global, default and closure cell that refers to torch replaced by the target's counterpart.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from mindtorch_testing.convert import Converter

_NAMESPACES = (
    "Tensor",
    "",
    "nn.functional",
    "linalg",
    "special",
    "fft",
    "sparse",
    "masked",
    "signal.windows",
    "nested",
    "functional",
    "nn.utils.rnn",
    "nn.utils",
    "nn.init",
    "autograd",
    "_C._nn",
    "_C._linalg",
    "_C._special",
    "_C._fft",
    "_C._sparse",
    "_C._nested",
    "_C",
    "masked._ops",
)
"""Where a torch callable is looked up to learn its name; the first namespace that holds it wins."""

_TEST_CODE = ("torch.testing.",)


class MissingName(AttributeError):
    """The target does not have a name that torch has."""


class _Missing:
    """Stands for a name that the target lacks; using it says so."""

    def __init__(self, name: str) -> None:
        self._missing_name = name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise MissingName(f"missing torch.{self._missing_name}")

    def __getattr__(self, name: str) -> Any:
        raise MissingName(f"missing torch.{self._missing_name}.{name}")


@functools.cache
def _names() -> dict[int, str]:
    """Map the identity of torch's public callables to their qualified names below `torch`."""
    found: dict[int, str] = {}
    for space in _NAMESPACES:
        holder = resolve(torch, space)
        for name in dir(holder):
            try:
                member = getattr(holder, name)
            except Exception:  # noqa: BLE001 - torch's lazy attributes may raise anything; they are no ops
                continue
            if callable(member) and not isinstance(member, types.ModuleType):
                found.setdefault(id(member), f"{space}.{name}" if space else name)
    return found


def resolve(root: Any, dotted: str) -> Any:
    """Return `root.a.b` for "a.b", a placeholder that raises `MissingName` when a part is absent."""
    value = root
    for part in dotted.split(".") if dotted else ():
        try:
            value = getattr(value, part)
        except AttributeError:
            return _Missing(dotted)
    return value


@contextlib.contextmanager
def _unfrozen(*args: object, **kwargs: object) -> Iterator[None]:
    yield  # the sweep seeds before every call, so there is no random state to protect


class Rebinder:
    """Translates values that hold torch callables; one instance per target, results are remembered."""

    def __init__(self, target: types.ModuleType) -> None:
        self.target = target
        self._done: dict[int, Any] = {}
        self._alive: list[Any] = []

    def __call__(self, value: Any) -> Any:
        """Return the target's counterpart of `value`, or `value` itself when it has nothing to do with torch."""
        key = id(value)
        if key in self._done:
            return self._done[key]
        result = self._translate(value)
        self._done[key] = result
        self._alive.append(value)
        return result

    def qualified_name(self, value: Any) -> str | None:
        """Return the name below `torch` of one of torch's callables, None for anything else."""
        if isinstance(value, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            return "ops." + str(value).replace("::", ".")
        name = _names().get(id(value))
        if name is None and isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
            module = getattr(value, "__module__", None) or ""
            if module.startswith("torch.") and not module.startswith(_TEST_CODE):
                name = f"{module.removeprefix('torch.')}.{value.__qualname__}"
        return name

    def _translate(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, (torch.Tensor, torch.dtype, torch.device, torch.layout, torch.memory_format)):
            return Converter(self.target).to_target(value)
        if isinstance(value, functools.partial):
            return functools.partial(self(value.func), *map(self, value.args), **self._each(value.keywords))
        if isinstance(value, types.MethodType):
            return types.MethodType(self(value.__func__), value.__self__)
        if callable(value):
            return self._callable(value)
        return value

    def _each(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self(value) for name, value in values.items()}

    def _module(self, value: types.ModuleType) -> Any:
        name = value.__name__
        if name == "torch":
            return self.target
        if name.startswith("torch.") and not name.startswith(_TEST_CODE) and name != "torch.testing":
            return resolve(self.target, name.removeprefix("torch."))
        return value

    def _callable(self, value: Any) -> Any:
        if getattr(value, "__name__", "") == "freeze_rng_state":
            return _unfrozen
        name = self.qualified_name(value)
        if name is not None:
            return resolve(self.target, name)
        if isinstance(value, types.FunctionType) and (value.__module__ or "").startswith(_TEST_CODE):
            return self._rebuild(value)
        return value

    def _rebuild(self, function: types.FunctionType) -> Callable[..., Any]:
        scope: dict[str, Any] = {"__builtins__": __builtins__, "__name__": function.__module__}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        clone = types.FunctionType(function.__code__, scope, function.__name__, None, cells)
        self._done[id(function)] = clone  # before what it refers to: functions may refer to each other in circles
        for name in _global_names(function.__code__):
            if name in function.__globals__:
                scope[name] = self(function.__globals__[name])
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = self(original.cell_contents)
        clone.__defaults__ = tuple(map(self, function.__defaults__)) if function.__defaults__ else None
        clone.__kwdefaults__ = self._each(function.__kwdefaults__) if function.__kwdefaults__ else None
        return clone


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names
