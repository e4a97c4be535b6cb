"""What operators of `torch._custom_op` may be called, take and return; each check raises torch's error."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.schema import Schema

SUPPORTED_DEVICE_TYPE_TO_KEY = {"cpu": "CPU", "cuda": "CUDA"}
RESERVED_NS = {"prim", "prims", "aten", "at", "torch", "pytorch"}
_RETURNED = ("int", "SymInt", "bool", "float", "Tensor")


def parse_qualname(qualname: str) -> tuple[str, str]:
    """Return namespace and name; ValueError for another form, or an overload."""
    names = qualname.split("::", 1)
    if len(names) != 2:
        raise ValueError(
            f"Expected there to be a namespace in {qualname}, i.e. The operator name should look something like ns::foo"
        )
    if "." in names[1]:
        raise ValueError(
            "The torch.custom_ops APIs do not handle overloads, i.e. operator names with '.' in them. Please name your "
            f"operator something like ns::foo. Got: {qualname}"
        )
    return names[0], names[1]


def validate_namespace(ns: str) -> None:
    """Refuse namespaces of torch; ValueError."""
    if "." in ns:
        raise ValueError(f'custom_op(..., ns="{ns}"): expected ns to not contain any . (and be a valid variable name)')
    if ns in RESERVED_NS:
        raise ValueError(f"custom_op(..., ns='{ns}'): '{ns}' is a reserved namespace, please choose something else. ")


def _is_view_or_write(schema: Schema) -> bool:
    return any(one.alias is not None for one in (*schema.arguments, *schema.returns))


def validate_schema(schema: Schema) -> None:
    """Refuse operators that write, return views or nothing, or call an argument `self`; ValueError."""
    if _is_view_or_write(schema) or not schema.returns:
        raise ValueError(
            "custom_op only supports functional operators (ops that do not mutate any inputs, do not return views of the "
            f"inputs, and has at least one return). Got the following non-functional schema: {schema}"
        )
    if any(one.name == "self" for one in schema.arguments):
        raise ValueError(
            f"custom_op does not support arguments named 'self'. Please rename your argument. Got: {schema}"
        )


def validate_device_type(device_type: str) -> None:
    """Refuse other devices than the CPU and CUDA; ValueError."""
    if device_type not in SUPPORTED_DEVICE_TYPE_TO_KEY:
        raise ValueError(
            f"CustomOp.impl(device_types=[{device_type}, ...]): we only support device_type in "
            f"{SUPPORTED_DEVICE_TYPE_TO_KEY.keys()}."
        )


def validate_function_matches_schema(schema: Schema, func: Callable[..., Any]) -> None:
    """Refuse a function with other parameters than its schema, with annotations or defaults; ValueError."""
    sig = inspect.signature(func)
    said = "custom_op(..., manual_schema)(func): "
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = list(sig.parameters.values())
    if any(one.kind not in kinds for one in parameters):
        raise ValueError(
            f"{said}positional-only args, varargs, and kwargs are not supported. Please rewrite `func` to not have them. "
            f"Got `func` with signature: {sig}"
        )
    annotated = any(one.annotation is not inspect.Parameter.empty for one in parameters)
    if annotated or sig.return_annotation is not inspect.Signature.empty:
        raise ValueError(
            f"{said}When passing in a manual schema, we expect `func` to have no type annotations to avoid ambiguity. Got "
            f"`func` with signature: {sig}"
        )
    shown = f"func's signature: {sig}, manual_schema: {schema}"
    for keyword_only, kind in ((False, kinds[0]), (True, kinds[1])):
        given = [one for one in parameters if one.kind is kind]
        wanted = [one for one in schema.arguments if one.kwarg_only is keyword_only]
        if [one.name for one in given] != [one.name for one in wanted]:
            raise ValueError(
                f"{said}When passing in a manual schema, we expect `func`'s signature to match `manual_schema` (aside from "
                f"type annotations). {shown}"
            )
        if any(one.default is not inspect.Parameter.empty for one in given) or any(one.has_default for one in wanted):
            raise ValueError(f"{said}neither func nor manual_schema should have default arguments. Got {shown}")


def validate_backward(qualname: str, schema: Schema) -> None:
    """Refuse a backward of operators that write, return views, nothing, or what no gradient belongs to; RuntimeError."""

    def refuse(detail: str) -> typing.NoReturn:
        raise RuntimeError(
            f"Cannot use torch._custom_ops APIs to register backward formula for {detail}. Got operator {qualname} with "
            f"schema: {schema}"
        )

    if any(one.is_write for one in schema.arguments):
        refuse("non-functional operator")
    if not schema.returns:
        refuse("operator with no returns")
    if _is_view_or_write(schema):
        refuse("operator that returns views")
    for one in schema.returns:
        shown = str(one.type)
        if shown not in (*_RETURNED, "Tensor[]"):
            refuse(f"operator with return not in {[*_RETURNED, 'List[Tensor]']} (got {shown})")
