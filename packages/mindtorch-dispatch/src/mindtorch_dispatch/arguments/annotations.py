"""Schema types as Python writes them: `Tensor | None`, `Sequence[int]`. Signatures and stubs show them."""

from __future__ import annotations

from ..schema import Schema, Type
from .parameter import Parameter

_KINDS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "complex": "complex",
    "bool": "bool",
    "str": "str",
    "ScalarType": "dtype",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Device": "device | str | int",
    "Generator": "Generator",
}
"""What stands for a kind; others are `Any`."""


def annotation_of(parameter: Parameter) -> str:
    """Return the type of what a parameter takes."""
    kind = parameter.type
    text = _KINDS.get(kind.kind, "Any")
    if kind.is_list:
        element = f"{text} | None" if kind.elem_optional else text
        single = f"{text} | " if kind.size and kind.kind in ("int", "SymInt") else ""
        text = f"{single}Sequence[{element}]"
    elif parameter.numbers and kind.kind == "Tensor" and parameter.name != "out":
        text = "Tensor | Number"
    return f"{text} | None" if parameter.allow_none else text


def return_annotation(schema: Schema, pack: str | None) -> str:
    """Return the type of what a function gives: `pack` is the class of its named results."""
    if pack is not None:
        return f"return_types.{pack}"
    found = [_returned(one.type) for one in schema.returns]
    if len(found) == 1:
        return found[0]
    return f"tuple[{', '.join(found)}]" if found else "None"


def _returned(kind: Type) -> str:
    text = _KINDS.get(kind.kind, "Any")
    if kind.is_list:
        return f"tuple[{text}, ...]"
    return f"{text} | None" if kind.optional else text
