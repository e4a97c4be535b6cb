"""What functions of TorchScript take: their declared arguments, and values of Python as ones of the declared types."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable
from typing import Any

from mindtorch.jit._compiler.types import Type, parse
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.tensor_base import TensorBase

_NAMES = {"inf": math.inf, "nan": math.nan, "infj": complex(0, math.inf), "nanj": complex(0, math.nan)}
_INT, _REAL = (int, dtype), (int, float)


class CastError(Exception):
    """A value that is none of the wanted type; its text ends the error."""


class Argument:
    """A declared argument."""

    def __init__(self, name: str, kind: Type, default: ast.expr | None) -> None:
        self.name = name
        self.kind = kind
        self.required = default is None
        self.default_text = "" if default is None else _in_schema(default)
        self.default = None if default is None else _evaluated(default)

    def __str__(self) -> str:
        return f"{self.kind.in_graphs} {self.name}{'' if self.required else f'={self.default_text}'}"


class Signature:
    """The declaration of a function or method, from its text. `inferred` are the arguments whose types were not said."""

    def __init__(self, name: str, text: str, inferred: frozenset[str] = frozenset()) -> None:
        parsed = ast.parse(text).body[0]
        assert isinstance(parsed, ast.FunctionDef)
        self.name = name
        self.inferred = inferred
        names = [*parsed.args.args, *parsed.args.kwonlyargs]
        defaults = [*parsed.args.defaults, *parsed.args.kw_defaults]
        padded: list[Any] = [None] * (len(names) - len(defaults)) + list(defaults)
        self.owner = ""
        if names and names[0].arg == "self" and names[0].annotation is not None:
            self.owner = ast.unparse(names[0].annotation)
            names, padded = names[1:], padded[1:]
        self.arguments = [
            Argument(one.arg, parse(ast.unparse(one.annotation)) if one.annotation else Type("Tensor"), default)
            for one, default in zip(names, padded, strict=True)
        ]
        self.returns = Type("Tensor") if parsed.returns is None else parse(ast.unparse(parsed.returns))

    def __str__(self) -> str:
        own = [f"{self.owner} self"] if self.owner else []
        gives = self.returns.in_graphs
        given = ", ".join([*own, *map(str, self.arguments)])
        return f"{self.name}({given}) -> {f'({gives})' if self.returns.name == 'Tuple' else gives}"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return a value for every argument, of its type. Raises RuntimeError as torch does."""
        own = bool(self.owner)
        if len(args) > len(self.arguments):
            raise RuntimeError(
                f"{self.name}() expected at most {len(self.arguments) + own} argument(s) but received {len(args) + own} "
                f"argument(s). Declaration: {self}"
            )
        made, used = [], 0
        for place, one in enumerate(self.arguments):
            if place < len(args):
                made.append(self._as(args[place], one, place + own))
            elif one.name in kwargs:
                made.append(self._as(kwargs[one.name], one, place + own))
                used += 1
            elif one.required:
                raise RuntimeError(f"{self.name}() is missing value for argument '{one.name}'. Declaration: {self}")
            else:
                made.append(one.default)
        if used < len(kwargs):
            self._refuse(kwargs, len(args))
        return made

    def _refuse(self, kwargs: dict[str, Any], placed: int) -> None:
        names = [one.name for one in self.arguments]
        for name in kwargs:
            if name not in names:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}")
            if names.index(name) < placed:
                raise RuntimeError(
                    f"Argument '{name}' specified both as positional and keyword argument. Schema: {self}"
                )

    def _as(self, value: Any, argument: Argument, place: int) -> Any:
        try:
            return cast(value, argument.kind)
        except CastError as error:
            inferred = argument.name in self.inferred
            note = (
                f"Inferred '{argument.name}' to be of type 'Tensor' because it was not annotated with an explicit type.\n"
                if inferred
                else ""
            )
            raise RuntimeError(
                f"{self.name}() Expected a value of type '{argument.kind}{' (inferred)' if inferred else ''}' for argument "
                f"'{argument.name}' but instead found type '{_found(value)}'.\n{note}Position: {place}\nValue: {value!r}\n"
                f"Declaration: {self}\n{error}"
            ) from None


@functools.lru_cache(maxsize=4096)
def signature_of(name: str, text: str, inferred: frozenset[str] = frozenset()) -> Signature:
    """Return the signature in a definition's text."""
    return Signature(name, text, inferred)


def _found(value: Any) -> str:
    if isinstance(value, TensorBase):
        return "Tensor"
    fields = getattr(value, "_fields", None)
    name = type(value).__name__
    return name if fields is None else f"{name} (aka NamedTuple({', '.join(fields)}))"


def _evaluated(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp):
        return -_evaluated(node.operand)
    if isinstance(node, (ast.List, ast.Tuple)):
        made = map(_evaluated, node.elts)
        return list(made) if isinstance(node, ast.List) else tuple(made)
    if isinstance(node, ast.Call):
        name, given = ast.unparse(node.func), [_evaluated(one) for one in node.args if isinstance(one, ast.Constant)]
        return (
            Device(*given)
            if name == "torch.device"
            else complex(*given)
            if name == "complex"
            else _evaluated(node.args[-1])
        )
    return ast.literal_eval(node)


def _in_schema(node: ast.expr) -> str:
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return text.removesuffix("0") if text.endswith(".0") else text
    return text


def _refused(value: Any) -> CastError:
    kind = "<class 'torch.Tensor'>" if isinstance(value, TensorBase) else type(value)
    return CastError(
        f"Cast error details: Unable to cast Python instance of type {kind} to C++ type '?' (#define "
        "PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )


def cast(value: Any, kind: Type) -> Any:
    """Return a value of Python as one of a type. Raises CastError."""
    name = kind.name
    if name == "Tensor":
        if value is None or isinstance(value, TensorBase):
            return value
        raise CastError(f"Cast error details: Unable to cast {value} to Tensor")
    if name == "Optional":
        return None if value is None else cast(value, kind.element)
    known = _CASTS.get(name)
    if known is not None:
        return known(value)
    if name == "List":
        return _as_list(value, kind.element)
    if name == "Tuple":
        return _as_tuple(value, kind)
    if name == "Dict":
        return {cast(key, kind.args[0]): cast(one, kind.args[1]) for key, one in _made_of(dict, value).items()}
    return value


def _number(value: Any, accepted: tuple[type, ...], to: Callable[[Any], Any]) -> Any:
    if isinstance(value, accepted):
        return to(value.index if isinstance(value, dtype) else value)
    if isinstance(value, TensorBase) and value.numel() == 1:
        return to(value.item())
    raise _refused(value)


def _as_bool(value: Any) -> bool:
    return bool(_number(False if value is None else value, (int, float, complex), bool))


def _as_text(value: Any) -> Any:
    if not isinstance(value, str):
        raise _refused(value)
    return value


def _as_device(value: Any) -> Any:
    if not isinstance(value, (str, Device)):
        raise _refused(value)
    return Device(value) if isinstance(value, str) else value


def _as_scalar(value: Any) -> Any:
    return value if isinstance(value, (int, float, complex)) else _number(value, (), lambda one: one)


_CASTS: dict[str, Callable[[Any], Any]] = {
    "int": lambda value: _number(value, _INT, int), "float": lambda value: _number(value, _REAL, float),
    "complex": lambda value: _number(value, (int, float, complex), complex), "bool": _as_bool, "str": _as_text,
    "Device": _as_device, "number": _as_scalar,
}  # fmt: skip


def _made_of(make: Callable[[Any], Any], value: Any) -> Any:
    """Return the list or dict of a value; what Python says against it ends the error."""
    try:
        return make(value)
    except (TypeError, ValueError) as error:
        named = isinstance(value, (Device, dtype))
        text = f"'torch.{type(value).__name__}' object is not iterable" if named else str(error)
        raise CastError(f" Python error details: {type(error).__name__}: {text}") from None


def _as_list(value: Any, of: Type) -> list[Any]:
    """Return a list; one of numbers or tensors is of nothing else, and any other takes whatever can be iterated."""
    if of.name not in ("int", "float", "bool", "complex", "Tensor"):
        return [cast(one, of) for one in _made_of(list, value)]
    if not isinstance(value, (list, tuple)):
        raise _refused(value)
    try:
        made = [cast(one, of) for one in value]
    except CastError:
        raise _refused(value) from None
    if of.name == "Tensor" and any(one is None for one in made):
        raise _refused(value)
    return made


def _as_tuple(value: Any, kind: Type) -> tuple[Any, ...]:
    elements = _made_of(list, value)
    if len(elements) != len(kind.args):
        raise CastError(f"Cast error details: Object {value} had a different number of elements than type {kind}")
    return tuple(cast(one, of) for one, of in zip(elements, kind.args, strict=True))
