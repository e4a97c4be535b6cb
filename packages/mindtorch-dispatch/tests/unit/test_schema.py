from __future__ import annotations

import copy
import pickle

import pytest

from mindtorch_dispatch.schema import Alias, Argument, EnumName, Schema, SchemaError, Type, parse_schema

ADD = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"


def test_parts_of_a_signature():
    schema = parse_schema(ADD)
    assert (schema.name, schema.overload) == ("aten::add", "Tensor")
    assert (schema.namespace, schema.base_name, schema.qualified_name) == ("aten", "add", "aten::add.Tensor")
    assert [a.name for a in schema.arguments] == ["self", "other", "alpha"]
    alpha = schema.arguments[2]
    assert (alpha.type, alpha.default, alpha.has_default, alpha.kwarg_only) == (Type("Scalar"), 1, True, True)
    assert schema.returns == (Argument("", Type("Tensor")),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tensor?[]", Type("Tensor", True, None, False, True)),
        ("int[2]?", Type("int", True, 2, True)),
        ("SymInt[1]", Type("SymInt", True, 1)),
        ("bool[3]", Type("bool", True, 3)),
        ("float[]?", Type("float", True, None, True)),
        ("Scalar?", Type("Scalar", optional=True)),
        ("MemoryFormat?", Type("MemoryFormat", optional=True)),
        ("int[][]", Type("int[]", True)),
        ("Dict(str, Tensor)[]", Type("Dict(str, Tensor)", True)),
    ],
)
def test_types(text, expected):
    schema = parse_schema(f"f({text} x) -> ()")
    assert schema.arguments[0].type == expected
    assert str(expected) == text
    assert schema.returns == ()


@pytest.mark.parametrize(
    ("text", "default"),
    [
        ("int[2] stride=1", (1, 1)),
        ("int[2] stride=[1, 2]", (1, 2)),
        ("int[1] kernel=[]", ()),
        ("str mode='it\\'s'", "it's"),
        ('str mode="a, b"', "a, b"),
        ("float p=1e-5", 1e-5),
        ("bool? flag=None", None),
        ("int reduction=Mean", 1),
        ("ScalarType? dtype=long", EnumName("long")),
        ("ScalarType? dtype=4", EnumName("long")),
        ("MemoryFormat memory_format=contiguous_format", EnumName("contiguous_format")),
        ("Scalar value=-0.5", -0.5),
    ],
)
def test_defaults(text, default):
    argument = parse_schema(f"f({text}) -> Tensor").arguments[0]
    assert argument.default == default
    assert type(argument.default) is type(default)


def test_aliases():
    schema = parse_schema("split.Tensor(Tensor(a -> *) self, Tensor(b!)[] others, t[](c!) end) -> Tensor(a)[]")
    first, second, third = schema.arguments
    assert (first.alias_set, first.is_write, first.alias) == ("a", False, Alias("a", "*", False))
    assert (second.alias_set, second.is_write) == ("b", True)
    assert third.alias == Alias("c", "c", True, True)
    assert schema.returns[0].type == Type("Tensor", True)


def test_namespace():
    assert parse_schema("mine::f(Tensor x) -> Tensor").namespace == "mine"
    assert parse_schema("f(Tensor x) -> Tensor", namespace="").name == "f"
    assert str(parse_schema("f(Tensor x) -> Tensor", namespace="")) == "f(Tensor x) -> Tensor"


def test_derived_forms():
    schema = parse_schema(ADD)
    assert str(schema.as_inplace()) == (
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    )
    assert schema.as_inplace().is_inplace
    out = schema.as_out("out")
    assert str(out) == ("aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
    assert [a.name for a in out.out_arguments] == ["out"]
    top = parse_schema("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
    assert str(top.as_out("dim_max", ("max", "max_values"))) == (
        "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> "
        "(Tensor(a!) values, Tensor(b!) indices)"
    )
    each = parse_schema("_foreach_neg(Tensor[] self) -> Tensor[]")
    assert str(each.as_inplace()) == "aten::_foreach_neg_(Tensor(a!)[] self) -> ()"
    assert each.as_out().overload == "out"
    with pytest.raises(SchemaError, match="no in-place form"):
        parse_schema("f(Scalar self, Tensor other) -> Tensor").as_inplace()


def test_values_are_immutable_and_travel():
    schema = parse_schema(ADD)
    with pytest.raises(AttributeError, match="immutable"):
        schema.name = "other"
    with pytest.raises(AttributeError, match="immutable"):
        del schema.arguments[0].name
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert copy.deepcopy(schema) == schema
    assert hash(parse_schema(ADD)) == hash(schema)
    assert schema.replace(overload="x") != schema
    assert repr(Type("int", True, 2)) == "Type('int[2]')"
    assert isinstance(schema, Schema)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f",
        "f(",
        "f(Tensor x)",
        "f(Tensor) -> Tensor",
        "f(Tensor x=) -> Tensor",
        "f(Tensor x -> Tensor",
        "f(Tensor x) -> (Tensor",
        "f(int x=abc) -> Tensor",
        "f(Tensor(a x) -> Tensor",
        "f(int[x] a) -> Tensor",
        "f(str s='abc) -> Tensor",
        "f(Tensor(a?) x) -> Tensor",
        "f(Tensor x, ) -> Tensor",
        "a::b::c(int x) -> int",
        "f(int x) -> int extra words",
        "f(Bar x) -> int",
    ],
)
def test_not_a_signature(text):
    with pytest.raises(RuntimeError) as caught:
        parse_schema(text, strict=True)
    assert type(caught.value) is RuntimeError


def test_the_marker_stands_under_the_mistake():
    with pytest.raises(RuntimeError) as caught:
        parse_schema("f(Tensor x y) -> int")
    assert str(caught.value) == ("expected ) but found 'ident' here:\nf(Tensor x y) -> int\n           ~ <--- HERE\n")


def test_defaults_come_last():
    with pytest.raises(RuntimeError, match=r"follows default argument\. Parameter y in"):
        parse_schema("f(int x=1, int y) -> int")
    parse_schema("f(int x=1, *, int y) -> int")
