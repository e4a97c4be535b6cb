"""`torch.fx.operator_schemas`: the signatures of what nodes call."""

from __future__ import annotations

import inspect
import numbers
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch._C._types import Type
from mindtorch._naming import adopt
from mindtorch_dispatch.call import make_form
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.schema.function_schema import FunctionSchema
from mindtorch_dispatch.table import find_packet

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]

_PYTHON_TYPES: dict[str, Any] = {
    **{"Tensor": torch.Tensor, "number": numbers.Number, "int": int, "float": float, "bool": bool, "str": str},
    **{"complex": complex, "Device": torch.device, "Generator": torch.Generator, "Storage": torch.UntypedStorage},
}
"""The types that annotations have for those of schemas; enumerations are numbers there."""
_FORMS: dict[str, Any] = {"Optional": typing.Optional, "List": typing.List}  # noqa: UP006 (the forms of torch's signatures)


_SEVERAL: dict[str, Any] = {"Tuple": typing.Tuple, "Dict": typing.Dict}  # noqa: UP006


class ArgsKwargsPair(NamedTuple):
    """The arguments of a call as its target's signature has them.

    >>> torch.fx.operator_schemas.ArgsKwargsPair((1,), {"dim": 0})
    ArgsKwargsPair(args=(1,), kwargs={'dim': 0})
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _schemas(op: Any) -> list[Any]:
    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        return [FunctionSchema(row.schema) for row in op.packet.rows]
    packet = find_packet(getattr(op, "__name__", "")) if isinstance(op, native_path.types) else None
    if packet is None or op not in (make_form(packet, False), make_form(packet, True)):
        return []
    return [FunctionSchema(row.schema) for row in packet.rows]


def _annotation(text: str) -> Any:
    """Return what a type's text stands for."""
    for form, made in _FORMS.items():
        if text.startswith(f"{form}["):
            return made[_annotation(text[len(form) + 1 : -1])]
    for form, several in _SEVERAL.items():
        if text.startswith(f"{form}[") and text != "Tuple[()]":
            return several[tuple(map(_annotation, _parts(text[len(form) + 1 : -1])))]
    return tuple[()] if text == "Tuple[()]" else _PYTHON_TYPES.get(text, Any)


def _parts(text: str) -> list[str]:
    """Return what stands between the commas that are in no brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]


def _torchscript_type_to_python_type(ts_type: Type) -> Any:
    """Return what annotations have for a type of a schema."""
    return _annotation(ts_type.annotation_str)


def _signature(schema: Any) -> inspect.Signature:
    found = []
    seen_keyword_only = False
    for argument in schema.arguments:
        name = "input" if argument.name == "self" else argument.name
        seen_keyword_only = seen_keyword_only or argument.kwarg_only
        kind = inspect.Parameter.KEYWORD_ONLY if seen_keyword_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = argument.default_value if argument.has_default_value() else inspect.Parameter.empty
        found.append(
            inspect.Parameter(name, kind, default=default, annotation=_torchscript_type_to_python_type(argument.type))
        )
    returned = [_torchscript_type_to_python_type(one.type) for one in schema.returns]
    given = returned[0] if len(returned) == 1 else tuple(returned) or None
    return inspect.Signature(found, return_annotation=given)


def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """Return the signatures of an operator's overloads, None for what is no operator; and the schemas if wanted.

    >>> len(torch.fx.operator_schemas.get_signature_for_torch_op(torch.add)) > 0
    True
    """
    schemas = _schemas(op)
    signatures = [_signature(one) for one in schemas] or None
    return (signatures, schemas or None) if return_schemas else signatures


def check_for_mutable_operation(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise RuntimeError when every overload that takes these arguments changes one of them.

    >>> torch.fx.operator_schemas.check_for_mutable_operation(torch.add, (torch.ones(1), 1), {})
    >>> print("changes nothing")
    changes nothing
    """
    fitting = [one for one in _schemas(target) if _bound(_signature(one), args, kwargs) is not None]
    if fitting and all(one.is_mutable for one in fitting):
        raise RuntimeError(
            f"Tried to trace mutable operation {fitting[0]}. FX only supports functional code, so operations that mutate "
            "operands in-place (e.g. via `out` arguments) are not supported"
        )


def create_type_hint(x: Any) -> Any:
    """Return the type of a list or tuple of one type of items as `list[T]` or `tuple[T, ...]`; `x` where there is none.

    >>> torch.fx.operator_schemas.create_type_hint([int, int])
    list[int]
    """
    if not isinstance(x, list | tuple):
        return x
    whole: Any = list[Any] if isinstance(x, list) else tuple[Any, ...]
    if not x:
        return whole
    base = x[0]
    for one in x:
        if issubclass(one, base):
            continue
        if not issubclass(base, one):
            return whole
        base = one
    return list[base] if isinstance(x, list) else tuple[base, ...]  # type: ignore[valid-type]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Return whether a parameter of one type takes an argument of another; a list takes one integer, and tuples.

    >>> from torch.fx.operator_schemas import type_matches
    >>> type_matches(float, int), type_matches(int, str)
    (False, False)
    """
    if signature_type is argument_type:
        return True
    origin = typing.get_origin(signature_type)
    if origin is typing.Union:
        return any(type_matches(one, argument_type) for one in typing.get_args(signature_type))
    if origin is list:
        return _list_matches(signature_type, argument_type)
    if signature_type is int and argument_type is torch.dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return (
        inspect.isclass(argument_type) and inspect.isclass(signature_type) and issubclass(argument_type, signature_type)
    )


def _list_matches(signature_type: Any, argument_type: Any) -> bool:
    item = typing.get_args(signature_type)[0]
    if argument_type is int and item is int:
        return True
    if not inspect.isclass(item):
        warnings.warn(
            f"Does not support nested parametric types, got {signature_type}. Please file a bug.", stacklevel=4
        )
        return False
    given = typing.get_args(argument_type)
    if typing.get_origin(argument_type) is list:
        return issubclass(given[0], item)
    return typing.get_origin(argument_type) is tuple and all(one is ... or issubclass(one, item) for one in given)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> inspect.BoundArguments | None:
    try:
        return signature.bind(*args, **kwargs)
    except TypeError:  # the arguments are another overload's
        return None


def _normalized(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    """Return the arguments by a signature: by position what was given so, all others by name, defaults included."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(one.kind in variable for one in signature.parameters.values()) and list(signature.parameters) != ["input"]:
        return None
    bound = _bound(signature, args, kwargs)
    if bound is None:
        return None
    bound.apply_defaults()
    first: list[Any] = []
    named: dict[str, Any] = {}
    for index, name in enumerate(signature.parameters):
        if not only_kwargs and index < len(args):
            first.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(first), named)


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return a call's arguments as the function's signature has them; None where it cannot be told.

    Raises:
        RuntimeError: several overloads of an operator take the arguments, and no types were given.

    >>> from torch.fx.operator_schemas import normalize_function
    >>> normalize_function(
    ...     torch.sub, (torch.ones(1), 2), normalize_to_only_use_kwargs=True, arg_types=(torch.Tensor, int)
    ... ).kwargs["other"]
    2
    """
    kwargs = kwargs or {}
    schemas = _schemas(target)
    if not schemas:
        if not isinstance(target, types.FunctionType):
            return None
        return _normalized(inspect.signature(inspect.unwrap(target)), args, kwargs, normalize_to_only_use_kwargs)
    fitting = [one for one in map(_signature, schemas) if _bound(one, args, kwargs) is not None]
    if len(fitting) > 1 and arg_types is None and kwarg_types is None:
        listed = "\n".join(map(str, fitting))
        raise RuntimeError(
            f"Tried to normalize arguments to torch.{target.__name__} but the schema match was ambiguous! Please provide "
            f"argument types to the normalize_arguments() call. Available schemas:\n{listed}"
        )
    if len(fitting) > 1:
        fitting = [one for one in map(_signature, schemas) if _takes(one, arg_types or (), kwarg_types or {})]
    return _normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs) if fitting else None


def _takes(signature: inspect.Signature, kinds: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Return whether a signature takes arguments of these types."""
    bound = _bound(signature, kinds, named)
    return bound is not None and all(
        type_matches(signature.parameters[name].annotation, kind) for name, kind in bound.arguments.items()
    )


def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """Return the arguments of a submodule's call as its `forward` has them.

    Raises:
        RuntimeError: there is no such submodule.

    >>> from torch.fx.operator_schemas import normalize_module
    >>> model = torch.nn.Sequential(torch.nn.ReLU())
    >>> normalize_module(model, "0", (3,), normalize_to_only_use_kwargs=True)
    ArgsKwargsPair(args=(), kwargs={'input': 3})
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if not type(module).__module__.startswith("torch.nn"):
        return None
    return _normalized(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


adopt(globals())
