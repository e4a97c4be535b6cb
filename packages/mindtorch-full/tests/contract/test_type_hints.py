"""`typing.get_type_hints` of what users find in torch's modules."""

from __future__ import annotations

import importlib
import inspect
import typing

import pytest

import mindtorch as mt

MODULES = """nn nn.functional nn.init nn.utils nn.utils.rnn nn.attention optim optim.lr_scheduler optim.swa_utils distributions
distributions.constraints distributions.transforms special linalg fft utils.data utils.data.datapipes.iter utils.checkpoint
utils.weak utils._pytree autograd autograd.graph autograd.profiler func amp jit sparse masked profiler library package fx
serialization storage export cuda cpu distributed distributed.fsdp distributed.tensor distributed.checkpoint testing""".split()


def unresolved(value):
    """Return why the hints of a class or a function cannot be told, None where they can."""
    try:
        typing.get_type_hints(value)
    except (NameError, TypeError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def public(owner):
    """The classes and functions that a module of ours shows, and the methods of its classes."""
    for name, value in list(vars(owner).items()):
        described = inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "__signature__")
        if name.startswith("_") or not described:
            continue
        if str(getattr(value, "__module__", "")).startswith(("torch", "mindtorch")):
            yield name, value
            if inspect.isclass(value):
                functions = {key: one for key, one in vars(value).items() if inspect.isfunction(one)}
                yield from ((f"{name}.{key}", one) for key, one in functions.items() if not key.startswith("_"))


@pytest.mark.parametrize("module", ["", *MODULES])
def test_hints_are_told(module):
    owner = importlib.import_module(f"mindtorch.{module}".rstrip("."))
    found = {name: why for name, value in public(owner) if (why := unresolved(value))}
    assert not found


def test_operators_have_the_hints_of_builtin_functions():
    for function in (mt.add, mt.Tensor.add, mt.ones(1).add, mt.nn.functional.linear, mt.promote_types):
        assert typing.get_type_hints(function) == {}
    mt.add.__annotations__["input"] = int
    try:
        assert typing.get_type_hints(mt.mul) == {}  # each has its own
    finally:
        mt.add.__annotations__.clear()


def test_names_are_looked_up_where_they_are_written():
    hints = typing.get_type_hints(mt.distributions.Normal)
    assert hints["arg_constraints"] == typing.ClassVar[dict[str, typing.Any]]
    assert typing.get_type_hints(mt.device)["index"] == int | None
    assert typing.get_type_hints(mt.TypedStorage)["dtype"] is mt.dtype
    assert typing.get_type_hints(mt.Generator)["engine"].__name__ == "Engine"
