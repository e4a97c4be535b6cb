"""Our grammar against the signatures of every operator torch knows."""

from __future__ import annotations

import pytest

from mindtorch_dispatch.schema import SchemaError, parse_schema

torch = pytest.importorskip("torch", reason="oracle")


def registered():
    """Every schema torch has, but for those of Python operators whose types its own parser refuses."""
    return [schema for schema in torch._C._jit_get_all_schemas() if "PyObject" not in str(schema)]


@pytest.fixture(scope="module")
def schemas() -> dict[str, str]:
    """Qualified name to text, for every schema registered in torch."""
    found = {}
    for schema in registered():
        name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        found[name] = str(schema)
    return found


def test_every_schema_prints_as_torch_prints_it(schemas):
    assert len(schemas) > 3000
    different = [text for text in schemas.values() if str(parse_schema(text)) != text]
    assert different == []


def test_fields_are_those_of_torch():
    for schema in registered():
        ours = parse_schema(str(schema))
        assert (ours.name, ours.overload) == (schema.name, schema.overload_name)
        assert [a.name for a in ours.arguments] == [a.name for a in schema.arguments]
        assert [a.kwarg_only for a in ours.arguments] == [a.kwarg_only for a in schema.arguments]
        assert [a.has_default for a in ours.arguments] == [a.has_default_value() for a in schema.arguments]
        assert [a.is_write for a in ours.arguments] == [
            a.alias_info is not None and a.alias_info.is_write for a in schema.arguments
        ]
        assert [r.name for r in ours.returns] == [r.name for r in schema.returns]


@pytest.mark.parametrize(
    "text",
    [
        "a::f(Tensor! out) -> ()",
        "a::f.out(Tensor A, Tensor! out) -> Tensor!",
        "a::f(Tensor![] x, Tensor(a!) y) -> Tensor(a!)",
        "a::f(Tensor!? x, str s='a !') -> (Tensor!, Tensor!)",
        "a::f(int! n, Tensor ! x) -> Tensor(a -> *)",
    ],
)
def test_a_write_that_names_no_set_gets_one_of_its_own(text):
    ours, theirs = parse_schema(text, strict=True), torch._C.parse_schema(text)
    assert str(ours) == str(theirs)
    assert [a.is_write for a in ours.arguments] == [
        bool(a.alias_info and a.alias_info.is_write) for a in theirs.arguments
    ]


# In-place operators that write more than their first argument.
_WRITE_SEVERAL = ("_fused_", "_amp_")


def test_inplace_forms_are_torchs(schemas):
    checked = 0
    for name, text in schemas.items():
        base, _, overload = name.partition(".")
        functional = schemas.get(base[:-1] + (f".{overload}" if overload else ""))
        if not base.endswith("_") or functional is None or base[6:].startswith(_WRITE_SEVERAL):
            continue
        try:
            derived = str(parse_schema(functional).as_inplace())
        except SchemaError:
            continue  # the in-place form is a method of another argument: polygamma, float_power.Scalar
        if parse_schema(text).is_inplace:
            checked += 1
            assert derived == text
    assert checked > 290


# Out forms that upstream wrote by hand with other names or arguments; rows give those explicitly.
_OWN_OUT_FORMS = 53


def test_out_forms_are_torchs(schemas):
    checked, different = 0, []
    for text in schemas.values():
        schema = parse_schema(text)
        if any(a.is_write for a in schema.arguments) or not schema.returns:
            continue
        expected = schemas.get(f"{schema.name}.{schema.overload + '_out' if schema.overload else 'out'}")
        if expected is None:
            continue
        checked += 1
        if str(schema.as_out()) != expected:
            different.append(expected)
    assert checked > 900
    assert len(different) <= _OWN_OUT_FORMS


WRONG = [
    "",
    "foo",
    "foo(",
    "foo()",
    "foo() -> ",
    "foo(Tensor) -> Tensor",
    "foo(Tensor x=) -> Tensor",
    "foo(Bar x) -> Tensor",
    "foo(Tensor x) -> Bar",
    "foo(Tensor x -> Tensor",
    "foo(Tensor x) -> (Tensor",
    "foo(int x=abc) -> Tensor",
    "foo(int x=-a) -> int",
    "foo(str s='abc) -> int",
    "foo(int[] x=1) -> int",
    "foo(int[] x=None) -> int",
    "foo(int[] x=[1,) -> int",
    "foo(int[2] x=[1,a]) -> int",
    "foo(Tensor[] x=[]) -> int",
    "foo(Tensor(a x) -> Tensor",
    "foo(Tensor(a!x) -> int",
    "foo(Tensor() x) -> int",
    "foo(int[x] a) -> Tensor",
    "foo(int[2 a) -> int",
    "foo(Dict(str x) -> int",
    "1foo(int a) -> int",
    "foo.(int a)->int",
    "a::b::c(int a) -> int",
    "aten::foo.bar.baz(Tensor x) -> int",
    "foo(Tensor x,) -> Tensor",
    "foo(Tensor x, int ) -> int",
    "foo(Tensor x y) -> int",
    "foo(Tensor x; int y) -> int",
    "foo(Tensor 1x) -> int",
    "foo(Tensor x) Tensor",
    "foo(Tensor x) - > Tensor",
    "foo(Tensor x) -> Tensor, Tensor",
    "foo(..., Tensor x) -> int",
]


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_told_in_torchs_words(text):
    with pytest.raises(RuntimeError) as theirs:
        torch._C.parse_schema(text)
    with pytest.raises(RuntimeError) as ours:
        parse_schema(text, strict=True)
    assert str(ours.value) == str(theirs.value)


def test_the_diagnosis_finds_nothing_wrong_with_right_schemas(schemas):
    for text in schemas.values():
        parse_schema(text, strict=True)
