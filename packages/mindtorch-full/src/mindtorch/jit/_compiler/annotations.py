"""Annotations of Python as types of TorchScript."""

from __future__ import annotations

import ast
import enum
import types as python_types
import typing
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch_storage.dtype import dtype
from mindtorch_storage.layout import layout, memory_format

from .types import ANY, BOOL, COMPLEX, DEVICE, FLOAT, GENERATOR, INT, NONE, NUMBER, STR, TENSOR, Type, list_of, optional

_PLAIN: dict[Any, Type] = {
    int: INT, float: FLOAT, bool: BOOL, str: STR, complex: COMPLEX, None: NONE, type(None): NONE, Any: ANY,
    mindtorch.device: DEVICE, dtype: INT, layout: INT, memory_format: INT, mindtorch.Generator: GENERATOR,
    mindtorch.Size: list_of(INT),
}  # fmt: skip


def type_of_annotation(said: Any, class_type: Callable[[type], Type]) -> Type:
    """Return the type that an annotation means; `class_type` knows those of the program's classes.

    Raises RuntimeError for what is no type of TorchScript.
    """
    if isinstance(said, typing.Hashable) and said in _PLAIN:
        return _PLAIN[said]
    origin, parts = typing.get_origin(said), typing.get_args(said)
    if origin is not None:
        return _generic(said, origin, parts, class_type)
    if isinstance(said, type):
        if issubclass(said, mindtorch.Tensor):
            return TENSOR
        if issubclass(said, (list, dict)) or said is tuple:
            name = said.__name__.capitalize()
            raise RuntimeError(f"Attempted to use {name} without a contained type. Please add a contained type, e.g. "
                               f"{name}[int]")  # fmt: skip
        return class_type(said)
    raise RuntimeError(f"Unknown type annotation: '{said}'")


def _generic(said: Any, origin: Any, parts: tuple[Any, ...], class_type: Callable[[type], Type]) -> Type:
    if origin is typing.Annotated:
        return type_of_annotation(parts[0], class_type)
    inner = tuple(type_of_annotation(one, class_type) for one in parts if one is not ... and one != ())
    if origin is list:
        return list_of(inner[0])
    if origin is dict:
        return Type("Dict", inner)
    if origin is tuple:
        if ... in parts:
            raise RuntimeError(f"Unknown type annotation: '{said}'")
        return Type("Tuple", inner)
    if origin in (typing.Union, python_types.UnionType):
        rest = tuple(one for one in inner if one != NONE)
        if len(rest) == 1:
            return optional(rest[0])
        if set(rest) == {INT, FLOAT, COMPLEX}:
            return NUMBER
        return Type("Union", inner)
    if origin is typing.Final:
        return inner[0]
    raise RuntimeError(f"Unknown type annotation: '{said}'")


def of_value(value: Any, class_type: Callable[[type], Type]) -> Type | None:
    """Return the type of a value of Python, None where TorchScript has none."""
    if isinstance(value, mindtorch.Tensor):
        return TENSOR
    if isinstance(value, enum.Enum) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return class_type(type(value))
    if type(value) in _PLAIN:
        return _PLAIN[type(value)]
    if isinstance(value, (dtype, layout, memory_format)):
        return INT
    if isinstance(value, tuple):
        inner = [of_value(one, class_type) for one in value]
        return None if None in inner else Type("Tuple", tuple(inner))  # type: ignore[arg-type]
    if isinstance(value, list):
        kinds = {of_value(one, class_type) for one in value}
        only = kinds.pop() if len(kinds) == 1 else None
        return None if only is None else list_of(only)
    if isinstance(value, dict):
        kinds = {(of_value(key, class_type), of_value(one, class_type)) for key, one in value.items()}
        pair = kinds.pop() if len(kinds) == 1 else (None, None)
        key_kind, value_kind = pair
        return None if key_kind is None or value_kind is None else Type("Dict", (key_kind, value_kind))
    return None


def comment_types(lines: list[str], names: dict[str, Any]) -> tuple[list[Any], Any] | None:
    """Return the types that a comment `# type: (int, Tensor) -> Tensor` says, None where there is none."""
    for line in lines:
        text = line.partition("# type:")[2].strip()
        if "->" in text and text.startswith("("):
            given, _, result = text.partition("->")
            tree = ast.parse(given.strip(), mode="eval").body
            parts = tree.elts if isinstance(tree, ast.Tuple) else [] if given.strip() == "()" else [tree]
            known = {**vars(typing), "Tensor": mindtorch.Tensor, **names}
            return [meaning(ast.unparse(one), known) for one in parts], meaning(result.strip(), known)
    return None


def meaning(said: Any, names: dict[str, Any]) -> Any:
    """Return what an annotation says that may be a text, with the names that it may use and `torch`.

    Raises RuntimeError where it means nothing.
    """
    if isinstance(said, typing.ForwardRef):
        said = said.__forward_arg__
    if not isinstance(said, str):
        return said
    try:
        return eval(said, {"torch": mindtorch, **names})
    except (NameError, AttributeError, TypeError, SyntaxError) as error:
        raise RuntimeError(f"Unknown type name '{said}'") from error
