"""`__torch_dispatch__` in this package alone: who is asked, with what, and what becomes of the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindtorch_dispatch.ops  # noqa: F401 (declares the rows)
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.override.handlers import disabled_torch_dispatch, dispatches, handling, pushed
from mindtorch_dispatch.override.interception import call_arguments, intercepted, taken_apart
from mindtorch_dispatch.override.results import checked
from mindtorch_dispatch.state import DEFAULT_MODE, Mode, exclude_keys, mode_set, state
from mindtorch_dispatch.table import find_row
from mindtorch_storage.tensor_base import TensorBase

from .tensors import tensor


class Handling(TensorBase):
    """A tensor that answers every call itself."""

    calls: list[Any] = []
    answer: Any = NotImplemented

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((str(func), [kind.__name__ for kind in types], len(args), sorted(kwargs or {})))
        return cls.answer


class Derived(Handling):
    """Is asked before its base."""

    calls: list[Any] = []


class Quiet(TensorBase):
    """Defines the handler that handles nothing."""

    __torch_dispatch__ = staticmethod(disabled_torch_dispatch)


class Noting:
    """A mode that notes calls and passes them on."""

    def __init__(self, answer: Any = None) -> None:
        self.calls: list[Any] = []
        self.answer = answer
        self.stacks: list[int] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append((str(func), args, kwargs))
        self.stacks.append(len(state.mode.dispatch_modes))
        return func(*args, **(kwargs or {})) if self.answer is None else self.answer


def handled(cls: type = Handling, answer: Any = NotImplemented) -> Any:
    cls.calls = []
    cls.answer = answer
    return tensor([1.0, 2.0], cls=cls)


@pytest.mark.parametrize(("kind", "expected"), [(TensorBase, False), (Handling, True), (Derived, True), (Quiet, False)])
def test_a_type_handles_when_it_says_how(kind, expected):
    assert dispatches(kind) is expected


def test_subclasses_are_asked_before_their_bases_and_each_type_once():
    one, other, derived = handled(), handled(), handled(Derived)
    assert handling([one, other, derived, tensor([1.0])]) == [derived, one]


def test_python_is_above_every_other_key():
    assert DispatchKeySet(DispatchKey).highest() is DispatchKey.Python


def test_excluding_the_key_asks_nobody():
    value = handled()
    assert intercepted(state.mode, [value])
    with exclude_keys(DispatchKeySet(DispatchKey.Python)):
        assert not intercepted(state.mode, [value])


def test_a_type_answers_for_the_call():
    value = handled(answer=tensor([5.0]))
    assert aten.neg(value) is Handling.answer
    assert Handling.calls == [("aten.neg.default", ["Handling"], 1, [])]


def test_when_all_decline_the_error_names_them():
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for 'torch._ops.aten.neg.default'") as caught:
        aten.neg(handled())
    assert "  - tensor subclass <class" in str(caught.value)


def test_a_mode_is_off_while_it_handles():
    outer, inner = Noting(), Noting()
    value = tensor([1.0, 2.0])
    with mode_set(dispatch_modes=(outer, inner)):
        aten.detach(value)
    assert [name for name, _, _ in inner.calls] == ["aten.detach.default"] == [name for name, _, _ in outer.calls]
    assert (inner.stacks, outer.stacks) == ([1], [0])


def test_the_thread_is_as_before_when_a_handler_fails():
    class Failing:
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("handler")

    with mode_set(dispatch_modes=(Failing(),)):
        inside = state.mode
        with pytest.raises(KeyError):
            aten.detach(tensor([1.0]))
        assert state.mode is inside
    assert state.mode.dispatch_modes == ()


def test_a_mode_is_asked_before_a_type():
    mode, value = Noting(answer=tensor([9.0])), handled()
    with mode_set(dispatch_modes=(mode,)):
        assert aten.neg(value) is mode.answer
    assert Handling.calls == []


def test_modes_of_the_machinery_stand_below():
    class Machinery(Noting):
        _mode_key = 0

    class Above(Noting):
        above_autograd = True

    user, machinery, above, late = Noting(), Machinery(), Above(), Noting()
    stack: tuple[Any, ...] = ()
    for mode in (user, above, machinery, late):
        stack = pushed(stack, mode)
    assert stack == (machinery, user, late, above)


def test_plans_under_modes_are_not_kept_and_modes_not_interned():
    mode = Noting()
    changed = DEFAULT_MODE.replace(dispatch_modes=(mode,))
    assert changed is not DEFAULT_MODE.replace(dispatch_modes=(mode,))
    assert changed.replace(dispatch_modes=()) is DEFAULT_MODE
    assert isinstance(changed, Mode)
    value = tensor([1.0])
    before = len(aten.detach.packet.plans)
    with mode_set(dispatch_modes=(Noting(answer=value.__class__),)), pytest.raises(RuntimeError):
        aten.detach(value)
    assert len(aten.detach.packet.plans) == before


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("linear", False),
        ("reshape", False),
        ("stack", True),
        ("equal", True),
        ("lift_fresh", True),
        ("_foreach_add.List", True),
    ],
)
def test_composed_ops_are_taken_apart_unless_torch_has_them(name, whole):
    import mindtorch_autograd
    import mindtorch_autograd.derivatives  # noqa: F401

    assert taken_apart(find_row(name), [tensor([1.0])], state.mode) is not whole


class _Bound:
    def __init__(self, name: str, *values: Any, overload: bool = True, out: Any = None) -> None:
        self.row = find_row(name)
        self.values = list(values)
        self.overload = overload
        self.out = out


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (("add.Tensor", 1, 2, 1), ((1, 2), {})),
        (("add.Tensor", 1, 2, 3), ((1, 2), {"alpha": 3})),
        (("add.Tensor", 1, 2, 1.0), ((1, 2), {})),
        (("add.Tensor", 1, 2, True), ((1, 2), {"alpha": True})),
        (("sum.dim_IntList", 1, (0,), False, None), ((1, [0]), {})),
        (("sum.dim_IntList", 1, (0,), True, None), ((1, [0], True), {})),
        (("slice.Tensor", 1, 0, None, 5, 1), ((1, 0, None, 5), {})),
        (("transpose.int", 1, 0, 1), ((1, 0, 1), {})),
    ],
)
def test_what_equals_its_default_is_not_passed(bound, expected):
    assert call_arguments(_Bound(*bound)) == expected


def test_a_tensor_is_no_default():
    value = tensor([0.0])
    assert call_arguments(_Bound("slice.Tensor", value, 0, None, None, 1)) == ((value,), {})


@pytest.mark.parametrize(
    ("name", "answer", "text"),
    [
        ("neg", 3, "Unable to cast 3 to Tensor"),
        ("split.Tensor", None, "Unable to cast Python instance of type <class 'NoneType'>"),
        ("max.dim", 3, "Object of type 'int' is not an instance of 'sequence'"),
        ("max.dim", ["one"], "Unable to cast one to Tensor"),
        ("equal", "a", "Unable to cast Python instance of type <class 'str'>"),
    ],
)
def test_answers_that_the_schema_does_not_have(name, answer, text):
    with pytest.raises(RuntimeError, match=text):
        checked(answer, find_row(name).schema.returns)


def test_answers_that_the_schema_has():
    value = tensor([1.0])
    assert checked(value, find_row("neg").schema.returns) is value
    assert checked(None, find_row("neg").schema.returns) is None
    assert checked([value, value], find_row("max.dim").schema.returns) == (value, value)
    assert checked((value,), find_row("split.Tensor").schema.returns) == [value]
    assert checked(1, find_row("equal").schema.returns) is True


def test_a_view_must_be_a_new_tensor():
    value = handled()
    Handling.answer = value
    with pytest.raises(
        RuntimeError, match="View operation returned a tensor that is the same as the input base tensor"
    ):
        aten.alias(value)


def test_writes_count_once_however_the_handler_makes_them():
    value = handled()
    Handling.answer = value
    aten.add_(value, 1)
    assert (value._counter[0], value._array.tolist()) == (1, [1.0, 2.0])
    aten.add_(value, 1)
    assert value._counter[0] == 2


def test_overrides_are_not_asked_about_what_a_call_does_inside():
    asked = []

    class Overriding(TensorBase):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return NotImplemented

    value = tensor(np.ones(2, np.float32), cls=Overriding)
    levels = []

    class Mode_:
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            levels.append(state.mode.function_override)
            return value

    with mode_set(dispatch_modes=(Mode_(),)):
        aten.neg.default(value)
    assert asked == []
    assert levels == [0]
    assert overrides.overriding(value)
