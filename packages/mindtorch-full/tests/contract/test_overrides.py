"""`torch.overrides` on both sides: who is asked, in which order, and what is said when none answers."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import mindtorch as mt
import mindtorch.overrides

torch = pytest.importorskip("torch", reason="oracle")


def text_of(value: Any) -> Any:
    return "tensor" if isinstance(value, (mt.Tensor, torch.Tensor)) else value


def outcome(call: Any) -> Any:
    try:
        return text_of(call())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return type(error).__name__, str(error)


class Answers:
    """No tensor, but overrides."""

    @classmethod
    def __torch_function__(cls, func, types, args, kwargs=None):
        return func.__name__, [kind.__name__ for kind in types], len(args), sorted(kwargs or {})


class Refuses:
    """Answers NotImplemented."""

    @classmethod
    def __torch_function__(cls, func, types, args, kwargs=None):
        return NotImplemented


class AnswersMore(Answers):
    """A subclass, which is asked before its base."""


def api(value, other=None):
    return "ran"


def wrapped(T):
    return T.overrides.wrap_torch_function(lambda value: (value,))(lambda value: "ran")


def refusing(T):
    kind = type("Refusing", (T.Tensor,), {"__torch_function__": classmethod(lambda *a, **k: NotImplemented)})
    return T.ones(2).as_subclass(kind)


def with_mode(T, call, answer="mode"):
    class Mode(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return answer

        def __repr__(self):
            return "the mode"

    with Mode():
        return call()


def nested(T):
    seen = []

    class Mode(T.overrides.TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((self.name, func.__name__, T.overrides._len_torch_function_stack()))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with Mode("outer"), Mode("inner"):
        T.add(x, 1)
    T.add(x, 1)
    return seen


def base_mode(T):
    with T.overrides.BaseTorchFunctionMode() as mode:
        return type(mode).__name__, T.overrides._get_current_function_mode() is mode, T.add(T.ones(2), 1).tolist()


def abstract_mode(T):
    with T.overrides.TorchFunctionMode():
        return T.add(T.tensor(1), 1)


def redispatched(T):
    seen = []

    class Logging(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args, kwargs=None):
            seen.append(func.__name__)
            return T.overrides.redispatch_function(func, types, args, kwargs)

    def scaled(a, b):
        if T.overrides.has_torch_function((a, b)):
            return T.overrides.handle_torch_function(scaled, (a, b), a, b)
        return T.mul(a, b) + 1

    result = scaled(T.ones(2).as_subclass(Logging), T.ones(2).as_subclass(Logging))
    return seen, type(result).__name__, result.tolist()


def shown(T):
    o = T.overrides
    return [
        o.resolve_name(f)
        for f in (
            T.add,
            T.Tensor.add,
            T.nn.functional.relu,
            T.Tensor.shape.__get__,
            T.linalg.inv,
            T.fft.fft,
            T.special.erf,
            T.ops.aten.add.Tensor,
            len,
        )
    ]


def kinds(T):
    o = T.overrides
    return [
        o.is_tensor_method_or_property(f)
        for f in (T.add, T.Tensor.add, T.Tensor.shape.__get__, T.nn.functional.relu, T.Tensor.__add__, T.linalg.inv)
    ]


def asked(T, *values):
    return T.overrides.has_torch_function(values)


SCENARIOS = {
    "function": lambda T: T.add(Answers(), 1),
    "function_with_names": lambda T: T.add(Answers(), 1, alpha=2),
    "subclass_first": lambda T: T.add(Answers(), AnswersMore()),
    "in_a_list": lambda T: T.stack([T.ones(1), Answers()]),
    "next_is_asked": lambda T: T.add(Refuses(), Answers()),
    "all_refuse": lambda T: T.add(Refuses(), 1),
    "all_refuse_twice": lambda T: T.add(Refuses(), Refuses()),
    "tensor_all_refuse": lambda T: T.add(refusing(T), 1).__class__,
    "handle": lambda T: T.overrides.handle_torch_function(api, (Answers(),), Answers(), other=1),
    "handle_order": lambda T: T.overrides.handle_torch_function(api, (Answers(), AnswersMore()), 1),
    "handle_refused": lambda T: T.overrides.handle_torch_function(api, (Refuses(),), Refuses()),
    "handle_nothing": lambda T: T.overrides.handle_torch_function(api, (), 3),
    "handle_refused_in_mode": lambda T: with_mode(
        T, lambda: T.overrides.handle_torch_function(api, (Refuses(),), 1), NotImplemented
    ),
    "mode_refuses": lambda T: with_mode(T, lambda: T.ones(2), NotImplemented),
    "mode_and_type_refuse": lambda T: with_mode(T, lambda: T.add(Refuses(), 1), NotImplemented),
    "mode_first": lambda T: with_mode(T, lambda: T.add(Answers(), 1)),
    "mode_plain": lambda T: with_mode(T, lambda: T.ones(2)),
    "mode_python": lambda T: with_mode(T, lambda: T.overrides.handle_torch_function(api, (), 1)),
    "mode_is_a_function": lambda T: with_mode(T, lambda: T.overrides.has_torch_function(())),
    "mode_and_a_number": lambda T: with_mode(T, lambda: T.overrides.has_torch_function((1,))),
    "nested": nested,
    "base_mode": base_mode,
    "abstract_mode": abstract_mode,
    "redispatched": redispatched,
    "resolve_name": shown,
    "is_tensor_method_or_property": kinds,
    "wrapped_plain": lambda T: wrapped(T)(1),
    "wrapped_overridden": lambda T: wrapped(T)(Answers())[1:],
    "has_plain": lambda T: asked(T, T.ones(1), 1, None, [Answers()]),
    "has_override": lambda T: asked(T, 1, Answers()),
    "has_subclass": lambda T: asked(T, refusing(T)),
    "has_parameter": lambda T: asked(T, T.nn.Parameter(T.ones(1))),
    "has_class": lambda T: asked(T, Answers),
    "has_unary": lambda T: [T.overrides.has_torch_function_unary(v) for v in (1, Answers())],
    "has_variadic": lambda T: [T.overrides.has_torch_function_variadic(1, v) for v in (1, Answers())],
    "is_tensor_like": lambda T: [T.overrides.is_tensor_like(v) for v in (1, None, T.ones(1), Answers(), Answers)],
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name):
    expected, ours = outcome(lambda: SCENARIOS[name](torch)), outcome(lambda: SCENARIOS[name](mt))
    assert ours == expected


def test_ignored_functions_are_those_torch_ignores():
    def names(T):
        return {f.__name__ for f in T.overrides.get_ignored_functions() if hasattr(f, "__name__")}

    assert names(mt) - names(torch) == set()
    assert len(mt.overrides.get_ignored_functions()) > 100
    assert not mt.overrides.get_ignored_functions() & set(mt.overrides.get_testing_overrides())


def test_functions_torch_overrides_are_listed_here_when_they_exist():
    ours = {mt.overrides.resolve_name(f) for fs in mt.overrides.get_overridable_functions().values() for f in fs}
    theirs = {
        torch.overrides.resolve_name(f) for fs in torch.overrides.get_overridable_functions().values() for f in fs
    }
    missing = {
        name
        for name in theirs - ours - {None}
        if name.startswith(("torch.linalg.", "torch.fft.", "torch.special."))
        and hasattr(getattr(mt, name.split(".")[1]), name.split(".")[2])
    }
    assert missing == set()
    assert len(ours & theirs) > 1000


def test_testing_overrides_answer_minus_one():
    answers = mt.overrides.get_testing_overrides()
    assert {mt.add, mt.Tensor.add, mt.nn.functional.relu} <= set(answers)
    assert answers[mt.nn.functional.relu](1, inplace=True) == -1


CONSTRUCTIONS: list[Callable[[Any], Any]] = [
    lambda m: m.tensor([1.0]), lambda m: m.tensor([1], dtype=m.float32, requires_grad=True), lambda m: m.as_tensor([2]),
    lambda m: m.asarray([3]), lambda m: m.can_cast(m.int, m.float), lambda m: m.promote_types(m.int, m.float),
    lambda m: m.ones(2), lambda m: m.ones(2).sum(), lambda m: m.ones(2).sum(dim=0), lambda m: m.nn.functional.relu(m.ones(1)),
]  # fmt: skip


@pytest.mark.parametrize("make", CONSTRUCTIONS)
def test_a_mode_sees_the_call_as_it_was_written(make: Callable[[Any], Any]) -> None:
    def seen(m: Any) -> list[Any]:
        calls = []

        class Log(m.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                calls.append((func.__name__, len(args), None if kwargs is None else sorted(kwargs)))
                return func(*args, **(kwargs or {}))

        with Log():
            make(m)
        return calls

    assert seen(mt) == seen(torch) != []


class Scaled(NamedTuple):
    value: Any
    scale: float

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        inner = [one.value if isinstance(one, cls) else one for one in args]
        named = {name: one.value if isinstance(one, cls) else one for name, one in (kwargs or {}).items()}
        return func.__name__, [one.__name__ for one in types], func(*inner, **named).tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda T, w: T.nn.functional.linear(T.ones(2, 3), w),
        lambda T, w: T.add(T.ones(4, 3), w),
        lambda T, w: T.add(w, 1),
        lambda T, w: T.ones(4, 3) * w,
        lambda T, w: T.ones(4, 3).sub_(w),
        lambda T, w: T.nn.functional.relu(w),
        lambda T, w: T.sum(w),
        lambda T, w: T.nn.functional.pad(w, (1, 1)),
        lambda T, w: T.flatten(w, 1),
    ],
)
def test_a_named_tuple_that_overrides_functions_is_asked_as_a_tensor_is(call):
    weights = [Scaled(T.arange(12.0).reshape(4, 3), 2.0) for T in (mt, torch)]
    assert call(mt, weights[0]) == call(torch, weights[1])


def test_an_attribute_is_read_where_types_do_not_override():
    asked = []

    class Noting(mindtorch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            with mindtorch._C.DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))

    held = mindtorch.ones(2).as_subclass(Noting)
    assert held.grad is None
    assert len(asked) == 1  # the override reads it and is not asked again
    assert mindtorch.nn.LazyLinear(3)(mindtorch.ones(1, 2)).shape == (1, 3)
