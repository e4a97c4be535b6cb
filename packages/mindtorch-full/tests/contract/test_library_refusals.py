"""What `torch.library` refuses when an operator is declared or given a rule, in torch's words."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch

torch = pytest.importorskip("torch")


def outcome(library: Any, namespace: str, use: Any) -> tuple[str, str]:
    """Return the error that a use of a new library raises."""
    with library.library._scoped_library(namespace, "FRAGMENT") as fragment:
        try:
            use(fragment)
        except Exception as error:  # noqa: BLE001 (the two sides are compared)
            return type(error).__name__, str(error)
    return "", ""


@pytest.mark.parametrize(
    "schema",
    [
        "op(Tensor a) -> asdfasdf",
        "op(asdf a) -> Tensor",
        "op(int64_t a) -> Tensor",
        "op(double a) -> Tensor",
        "op(float32? a) -> Tensor",
        "op(Tensor a, uint8_t[] b) -> ()",
        "op(Tensor a, Dict(str, thing) b) -> ()",
        "op(Tensor a, t b) -> t",
        "op(Tensor a, complex b=None, str? d=None) -> int",
        "op(number a, Generator? b=None) -> int",
        "op(Dimname a) -> DispatchKeySet",
    ],
)
def test_types_that_are_none(schema: str) -> None:
    mine = outcome(mindtorch, "refusals", lambda fragment: fragment.define(schema))
    assert mine == outcome(torch, "refusals", lambda fragment: fragment.define(schema))


def test_type_variables_are_types_where_torchscript_has_them() -> None:
    for library in (mindtorch, torch):
        assert str(library._C.parse_schema("op(t a) -> t").arguments[0].type) == "t"


@pytest.mark.parametrize("key", ["CompositeImplicitAutograd", "CompositeExplicitAutograd", "CPU"])
def test_rules_of_operators_that_decompose(key: str) -> None:
    def use(library: Any) -> Any:
        def register(fragment: Any) -> None:
            fragment.define("op(Tensor x) -> Tensor")
            fragment.impl("op", lambda x: x.sin(), key)
            library.library.register_fake("refusals::op", lambda x: x, lib=fragment)

        return register

    mine = outcome(mindtorch, "refusals", use(mindtorch))
    assert mine == outcome(torch, "refusals", use(torch))
    assert bool(mine[0]) == (key == "CompositeImplicitAutograd")


def test_what_is_asked_of_operators() -> None:
    def answers(library: Any) -> list[Any]:
        utils = library._library.utils
        ops = library.ops.aten
        schemas = [ops.add.Tensor._schema, ops.add_.Tensor._schema, ops.view.default._schema, ops.cat.default._schema]
        found: list[Any] = [utils.is_functional_schema(one) for one in schemas]
        found += [[utils.is_tensorlist_like_type(a.type) for a in one.arguments] for one in schemas]
        found += [utils.has_kwarg_only_args(one) for one in schemas] + [utils.has_tensor_arg(one) for one in schemas]
        found += [utils.mutates_and_returns_first_arg(one) for one in (ops.add.Tensor, ops.add_.Tensor)]
        found.append(utils.fill_defaults(schemas[0], (1, 2), {}))
        found.append([(a.name, value) for a, value in utils.zip_schema(schemas[0], (1,), {"other": 2})])
        found.append(utils.parse_namespace("a::b"))
        found.append(str(utils.lookup_op("aten::sum.dim_IntList")))
        return found

    assert answers(mindtorch) == answers(torch)
    for call in (lambda library: library._library.utils.parse_namespace("ab"),):
        errors = []
        for library in (mindtorch, torch):
            with pytest.raises(ValueError, match="Expected `qualname`") as error:
                call(library)
            errors.append(str(error.value))
        assert errors[0] == errors[1]


def second_kernels(library: Any) -> list[str]:
    """Return what is said of a second kernel of Python's for the same operator and key, with and without leave."""
    said = []
    with library.library._scoped_library("mt_second", "FRAGMENT") as fragment:
        fragment.define("f(Tensor x) -> Tensor")
        fragment.impl("f", lambda x: x + 1, "CPU", allow_override=False)
        fragment.impl("f", lambda x: x + 2, "CPU")
        said.append(str(library.ops.mt_second.f(library.zeros(1))))
        for operator in ("f", "mt_second::f", library.ops.mt_second.f.default):
            try:
                fragment.impl(operator, lambda x: x + 3, "CPU", allow_override=False)
            except RuntimeError as error:
                said.append(str(error))
        with library.library._scoped_library("mt_second", "IMPL") as other:
            other.impl("f", lambda x: x, "Autograd", allow_override=False)
    with library.library._scoped_library("mt_second", "FRAGMENT") as fragment:  # what the first one gave is taken back
        fragment.define("f(Tensor x) -> Tensor")
        fragment.impl("f", lambda x: x + 4, "CPU", allow_override=False)
        said.append(str(library.ops.mt_second.f(library.zeros(1))))
    return said


@pytest.mark.filterwarnings("ignore:.*Overriding a previously registered kernel:UserWarning")
@pytest.mark.filterwarnings("ignore:.*Warning only once for all operators:UserWarning")
def test_second_kernels() -> None:
    said = second_kernels(mindtorch)
    assert said == second_kernels(torch)
    assert len(said) > 2


@pytest.mark.parametrize("name", ["is_tensor", "is_storage", "typename"])
def test_objects_are_given_by_position(name: str) -> None:
    texts = []
    for library in (mindtorch, torch):
        with pytest.raises(TypeError) as caught:
            getattr(library, name)(obj=None)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
