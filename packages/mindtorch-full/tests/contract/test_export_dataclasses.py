"""Dataclasses as arguments and results of exported programs, as torch's."""

import dataclasses

import pytest

import mindtorch as mt
import mindtorch.export

from .export_precisions import precisions  # noqa: F401  # a fixture

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.export", reason="oracle")
pytestmark = pytest.mark.usefixtures("precisions")


def made(t):
    given = dataclasses.make_dataclass("Given", ["a", "b", ("c", object, None)])
    out = dataclasses.make_dataclass("Out", ["sum", ("note", object, None)])
    t.export.register_dataclass(given)
    t.export.register_dataclass(out, serialized_type_name=f"{t.__name__}.contract.Out")

    class Module(t.nn.Module):
        def forward(self, x, *, pair):
            return out(x + pair.a * pair.b)

    return given, t.export.export(Module(), (t.ones(2),), {"pair": given(t.ones(2), t.ones(2))})


def test_fields_are_inputs():
    def of(t):
        given, program = made(t)
        result = program.module()(t.ones(2), pair=given(t.full((2,), 3.0), t.full((2,), 2.0)))
        names = [node.name for node in program.graph.nodes]
        return names, str(program.call_spec.in_spec), type(result).__name__, result.sum.tolist(), result.note

    assert of(mt) == of(torch)


def test_another_field_is_refused():
    def refusal(t):
        given, program = made(t)
        with pytest.raises(Exception) as raised:  # noqa: PT011 (the type is compared)
            program.module()(t.ones(2), pair=given(t.ones(2), t.ones(2), t.ones(2)))
        return type(raised.value).__name__, str(raised.value)

    assert refusal(mt) == refusal(torch)


@pytest.mark.parametrize("kind", [3, int])
def test_what_is_no_dataclass(kind):
    def refusal(t):
        with pytest.raises(ValueError, match="not a dataclass") as raised:
            t.export.register_dataclass(kind)
        return str(raised.value)

    assert refusal(mt) == refusal(torch)


def test_a_class_is_registered_again_with_a_warning():
    def warned(t):
        kind = dataclasses.make_dataclass("Again", ["a"])
        t.export.register_dataclass(kind)
        with pytest.warns(UserWarning, match="already registered as pytree node. Overwriting") as found:
            t.export.register_dataclass(kind)
        return [str(one.message) for one in found]

    assert warned(mt) == warned(torch)
