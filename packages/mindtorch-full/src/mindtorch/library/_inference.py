"""Schemas of annotated functions."""

from __future__ import annotations

import collections.abc
import inspect
import typing
from collections.abc import Callable
from functools import cache
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype

from ..tensor.tensor import Tensor
from ..types import Number

_SCALARS: list[tuple[Any, str, bool, bool]] = [
    (int, "SymInt", True, True),
    (float, "float", True, True),
    (bool, "bool", True, True),
    (str, "str", False, False),
    (Number, "Scalar", True, False),
    (Dtype, "ScalarType", False, False),
    (Device, "Device", False, False),
]
"""Type, its name in a schema, whether lists of it exist, whether these may be optional."""


def _lists_of(kind: Any) -> list[Any]:
    return [typing.Sequence[kind], typing.List[kind], collections.abc.Sequence[kind], list[kind]]  # noqa: UP006


@cache
def parameter_types() -> dict[Any, str]:
    """Every annotation that a parameter may have, with its name in a schema."""
    found: dict[Any, str] = {Tensor: "Tensor", Tensor | None: "Tensor?"}
    found |= dict.fromkeys(_lists_of(Tensor), "Tensor[]")
    found |= dict.fromkeys(_lists_of(Tensor | None), "Tensor?[]")
    for kind, name, listed, optional_list in _SCALARS:
        found[kind] = name
        found[typing.Optional[kind]] = f"{name}?"  # noqa: UP045
        if listed:
            lists = _lists_of(kind)
            found |= dict.fromkeys(lists, f"{name}[]")
            if optional_list:
                found |= {typing.Optional[one]: f"{name}[]?" for one in lists}  # noqa: UP045
    return found


@cache
def return_types() -> dict[Any, str]:
    """Every annotation that a result may have, with its name in a schema."""
    return {
        Tensor: "Tensor",
        typing.List[Tensor]: "Tensor[]",  # noqa: UP006
        list[Tensor]: "Tensor[]",
        int: "SymInt",
        float: "float",
        bool: "bool",
        Number: "Scalar",
    }


def tuple_to_list(tuple_type: Any) -> Any:
    """Return the type of lists that may hold what a type of tuples holds.

    >>> from torch._library.infer_schema import tuple_to_list
    >>> tuple_to_list(tuple[int, float])
    list[typing.Union[int, float]]
    """
    items = tuple(item for item in typing.get_args(tuple_type) if item is not ...)
    return list[typing.Union[items]] if items else list  # type: ignore[valid-type] # noqa: UP007


class _Inference:
    """One function on its way to a schema; `fail` raises with its signature at the end of the message."""

    def __init__(self, function: Any) -> None:
        self.scope = function.__globals__
        self.signature = inspect.signature(function)

    def fail(self, message: str) -> typing.NoReturn:
        """Raise ValueError."""
        raise ValueError(f"infer_schema(func): {message} Got func with signature {self.signature})")

    def resolve(self, annotation: Any) -> Any:
        """Return the type that an annotation names."""
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, self.scope)
        except Exception as error:  # noqa: BLE001 (whatever the annotation's code raises is reported)
            self.fail(
                f"Unsupported type annotation {annotation}. It is not a type. ({error}). If you are using 'from __future__ "
                "import annotations', note that annotations are evaluated lazily as strings; make sure all types "
                "referenced in annotations are importable at module scope, not only inside a local function."
            )

    def type_of(self, parameter: inspect.Parameter) -> str:
        """Return the schema's name of a parameter's type."""
        name = parameter.name
        if parameter.annotation is parameter.empty:
            self.fail(f"Parameter {name} must have a type annotation.")
        annotation = self.resolve(parameter.annotation)
        try:
            found = parameter_types().get(annotation)
        except TypeError:  # an annotation that has no hash names no type
            found = None
        if found is not None:
            return found
        if typing.get_origin(annotation) is tuple:
            suggested = tuple_to_list(annotation)
            example = f"For example, {suggested}." if suggested in parameter_types() else ""
            self.fail(
                f"Parameter {name} has unsupported type {parameter.annotation}. We do not support Tuple inputs in schema. "
                f"As a workaround, please try to use List instead. {example}\n\n"
                f"The valid types are: {parameter_types().keys()}."
            )
        self.fail(
            f"Parameter {name} has unsupported type {parameter.annotation}. "
            f"The valid types are: {parameter_types().keys()}."
        )

    def default_of(self, parameter: inspect.Parameter) -> str:
        """Return `=value`, empty without a default."""
        value = parameter.default
        if value is parameter.empty:
            return ""
        if value is None:
            return "=None"
        if isinstance(value, (str, Device)):
            return f'="{value}"'
        if isinstance(value, Dtype):
            return f"={str(value).removeprefix('torch.')}"
        if isinstance(value, (int, float, bool)):
            return f"={value}"
        self.fail(
            f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please file an issue on "
            "GitHub so we can prioritize this."
        )

    def returns(self) -> str:
        """Return what stands after the arrow."""
        if self.signature.return_annotation is inspect.Signature.empty:
            self.fail("No return type annotation was provided. Please add one.")
        annotation = self.resolve(self.signature.return_annotation)
        if annotation is None or annotation is type(None):
            return "()"
        known = return_types()
        try:
            if annotation in known:
                return known[annotation]
        except TypeError:  # an annotation that has no hash names no type
            pass
        if typing.get_origin(annotation) is tuple:
            items = typing.get_args(annotation)
            if all(item in known for item in items):
                return f"({', '.join(known[item] for item in items)})"
        self.fail(f"Return has unsupported type {annotation}. The valid types are: {known}.")


def infer_schema(
    prototype_function: Callable[..., Any], /, *, mutates_args: Any, op_name: str | None = None, tags: Any = ()
) -> str:
    """Return the schema that a function's annotations describe; torch's ValueError for what has none.

    Args:
        mutates_args: the names of the parameters that are written, or "unknown" for all that can be.
        op_name: the name that the schema begins with.
        tags: of the operator; none of them changes the schema.

    >>> def plus(x: torch.Tensor, y: float = 1.0) -> torch.Tensor: ...
    >>> torch.library.infer_schema(plus, mutates_args=())
    '(Tensor x, float y=1.0) -> Tensor'
    """
    known = _Inference(prototype_function)
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(
            "mutates_args must either be a sequence of the names of the arguments that are mutated or the string "
            "'unknown'. "
        )
    names = None if mutates_args == "unknown" else set(mutates_args)
    parts: list[str] = []
    seen_star = False
    for place, parameter in enumerate(known.signature.parameters.values()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            known.fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            seen_star = True
            parts.append("*")
        text = known.type_of(parameter)
        tensor = text.startswith("Tensor")
        written = tensor if names is None else parameter.name in names
        if written and not tensor:
            known.fail(
                f"Parameter {parameter.name} is in mutable_args but only Tensors or collections of Tensors can be mutated"
            )
        if written:
            text = f"Tensor(a{place}!)" + text[len("Tensor") :]
        parts.append(f"{text} {parameter.name}{known.default_of(parameter)}")
    missing = (names or set()) - set(known.signature.parameters)
    if missing:
        known.fail(
            f"{missing} in mutates_args were not found in the custom op's signature. mutates_args should contain the "
            "names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
        )
    return f"{op_name or ''}({', '.join(parts)}) -> {known.returns()}"
