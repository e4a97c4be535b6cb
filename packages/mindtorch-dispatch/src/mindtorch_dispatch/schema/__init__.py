"""Operator signatures in aten grammar.

    schema = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    schema.name, schema.overload            # "aten::add", "Tensor"
    [a.name for a in schema.arguments]      # ["self", "other", "alpha"]
    str(schema)                             # torch's form, "aten::add.Tensor(Tensor self, ...) -> Tensor"
    str(schema.as_inplace())                # "aten::add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)"
    str(schema.as_out("out"))               # "aten::add.out(..., *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"

Defaults are Python values: numbers, bools, strings, `None`, tuples for lists. Defaults of the enumerations
(`ScalarType`, `Layout`, `MemoryFormat`) are `EnumName` strings (`"long"`, `"contiguous_format"`), because a schema
knows names, not objects; the argument parser turns them into objects.
"""

from __future__ import annotations

from .grammar import parse_schema
from .model import Alias, Argument, EnumName, Schema, SchemaError, Type

__all__ = ["Alias", "Argument", "EnumName", "Schema", "SchemaError", "Type", "parse_schema"]
