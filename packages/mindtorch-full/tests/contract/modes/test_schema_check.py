"""`SchemaCheckMode`: what operators write to and share, beside what their schemas say, as torch sees it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch

torch = pytest.importorskip("torch")


def seen(library: Any, call: Callable[[Any], object]) -> Any:
    """Return what the mode of a library notes of a call, or the error that it raises."""
    mode = importlib.import_module(f"{library.__name__}._subclasses.schema_check_mode").SchemaCheckMode
    with mode() as check:
        call(library)
    noted = check.ops, [tuple(one) for one in check.mutated], [tuple(one) for one in check.aliasing]
    check.reset_cache()
    assert check.ops == check.mutated == check.aliasing == []
    return noted


def _written_twice(library: Any) -> None:
    x = library.ones(3, 3)
    x.add_(x)


def _several_results(library: Any) -> None:
    library.frexp(library.arange(9.0), out=(library.arange(9.0), library.zeros(9, dtype=library.int32)))


@pytest.mark.parametrize(
    "call",
    [
        lambda library: library.rand(3, 3).relu().sin(),
        lambda library: library.rand(3, 3, requires_grad=True).relu().sin(),
        lambda library: library.ones(3, 3).sinh_(),
        _written_twice,
        _several_results,
        lambda library: library.ones(2, 3).view(6).split(2),
        lambda library: library.ones(2, 3).t(),
        lambda library: library.ones(4).as_strided_([2, 2], [1, 1]),
        lambda library: library.aminmax(library.ones(3), dim=0),
    ],
)
def test_what_is_seen(call: Callable[[Any], object]) -> None:
    assert seen(mindtorch, call) == seen(torch, call)


def test_schemas_that_are_wrong_are_found() -> None:
    library = mindtorch.library.Library("schemas_that_are_wrong", "DEF")
    library.define("shares(Tensor x) -> Tensor")
    library.define("writes(Tensor x) -> Tensor")
    library.define("returns_it(Tensor(a) x) -> Tensor(a)")
    library.impl("shares", lambda x: x.view(-1), "CPU")
    library.impl("writes", lambda x: x.mul_(2) * 3, "CPU")
    library.impl("returns_it", lambda x: x, "CPU")
    ops = mindtorch.ops.schemas_that_are_wrong
    x = mindtorch.ones(2, 2)
    for op, text in (
        (ops.shares, "Argument x is not defined to alias output but was aliasing"),
        (ops.writes, "Argument x is not defined as mutable but was mutated"),
        (ops.returns_it, "are not allowed to directly return inputs"),
    ):
        with pytest.raises(RuntimeError, match=text):
            seen(mindtorch, lambda _, op=op: op(x))


def test_answers_for_schemas() -> None:
    def answers(library: Any) -> list[bool]:
        binding = library._C
        place, kind = binding._SchemaArgument, binding._SchemaArgType
        info = binding._SchemaInfo(library.ops.aten.add_.Tensor._schema)
        first, second, result = place(kind.input, 0), place(kind.input, 1), place(kind.output, 0)
        found = [
            info.is_mutable(),
            info.is_mutable(first),
            info.is_mutable("other"),
            info.may_alias(first, second),
            info.may_contain_alias(result, first),
            info.may_contain_alias(result, second),
        ]
        x = library.ones(2)
        info.add_argument_values({"input": x, "other": x})
        found += [info.may_alias(first, second), info.may_contain_alias(result, second), info.is_mutable("other")]
        norm = binding._SchemaInfo(library.ops.aten.native_batch_norm.default._schema)
        norm.add_argument_value("training", True)
        found.append(norm.is_mutable("running_mean"))
        norm.add_argument_value("training", False)
        return [*found, norm.is_mutable("running_mean"), binding._overlaps([x, library.ones(1)], x[1:])]

    assert answers(mindtorch) == answers(torch)
