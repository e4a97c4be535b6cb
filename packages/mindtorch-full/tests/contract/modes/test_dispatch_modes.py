"""`TorchDispatchMode` on both sides: what it sees, in which order, what it may answer."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from .scenarios import Scenarios, assert_same, caught, logging_mode, part, shown

scenarios = Scenarios()


def seen(T: Any, call: Any, values: bool = True) -> Any:
    mode = logging_mode(T, values)
    with mode:
        call()
    return mode.log


def answering(T: Any, answer: Any) -> Any:
    class Answers(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return answer

        def __repr__(self):
            return "Answers()"

    return Answers()


@scenarios.each(
    add=lambda T, x: x + x,
    number=lambda T, x: x * 2,
    reversed=lambda T, x: 2 - x,
    alpha=lambda T, x: T.add(x, x, alpha=3),
    alpha_default=lambda T, x: T.add(x, x, alpha=1),
    total=lambda T, x: x.sum(),
    dim=lambda T, x: T.sum(x, dim=1),
    keepdim=lambda T, x: x.sum(1, keepdim=True),
    zeros=lambda T, x: T.zeros(2, 3),
    zeros_of=lambda T, x: T.zeros(2, dtype=T.int32, requires_grad=False),
    literal=lambda T, x: T.tensor([1.0, 2.0]),
    random=lambda T, x: T.randn(2),
    item=lambda T, x: x[0, 0].item(),
    truth=lambda T, x: bool(x.sum()),
    out=lambda T, x: T.add(x, x, out=T.empty(2, 3)),
    inplace=lambda T, x: x.add_(1),
    views=lambda T, x: x.view(3, 2).reshape(6).unsqueeze(0).expand(2, 6),
    chunks=lambda T, x: x.chunk(2),
    joined=lambda T, x: T.cat([x, x], 1),
    softmax=lambda T, x: T.nn.functional.softmax(x, -1),
    gelu=lambda T, x: T.nn.functional.gelu(x),
    linear=lambda T, x: T.nn.functional.linear(x, x),
    matmul=lambda T, x: x[None] @ x.t(),
    norm=lambda T, x: x.norm(),
    arange=lambda T, x: T.arange(3),
    new=lambda T, x: x.new_zeros(3),
    std=lambda T, x: x.std(),
    clone=lambda T, x: x.clone(),
    where=lambda T, x: T.where(x > 0, x, x),
    convolution=lambda T, x: T.nn.functional.conv2d(x[None, None], x[None, None, :1, :1]),
    layer_norm=lambda T, x: T.nn.functional.layer_norm(x, (3,)),
    embedding=lambda T, x: T.nn.functional.embedding(x.long(), x),
    foreach=lambda T, x: T._foreach_add([x, x], 1),
    maximum=lambda T, x: x.max(0),
)
def sees(T, call):
    return seen(T, lambda: call(T, T.arange(6.0).reshape(2, 3)))


@scenarios
def types_have_only_classes_that_handle(T):
    found = []

    class Mode(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found.append(types)
            return func(*args, **(kwargs or {}))

    with Mode():
        T.ones(2) + T.nn.Parameter(T.ones(2))
    return found


@scenarios
def the_innermost_is_asked_first_and_is_off_meanwhile(T):
    order = []

    class Named(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            stack = part(T, "utils._python_dispatch")._get_current_dispatch_mode_stack()
            order.append((self.name, str(func), [mode.name for mode in stack]))
            if self.name == "inner" and "mul" in str(func):
                return args[0] + args[1]
            return func(*args, **(kwargs or {}))

    with Named("outer"), Named("inner"):
        T.ones(2) * T.ones(2)
    return order


@scenarios
def the_stack_is_what_was_entered(T):
    module = part(T, "utils._python_dispatch")
    one, two = logging_mode(T), logging_mode(T)
    assert module._get_current_dispatch_mode() is None
    with one, two:
        inside = (
            module._get_current_dispatch_mode() is two,
            [mode is one or mode is two for mode in module._get_current_dispatch_mode_stack()],
            module.is_in_torch_dispatch_mode(),
            module.is_in_torch_dispatch_mode(include_infra_modes=False),
            module.any_torch_dispatch_mode_on_stack() if hasattr(module, "any_torch_dispatch_mode_on_stack") else None,
            T._C._len_torch_dispatch_stack(),
        )
    return inside, T._C._len_torch_dispatch_stack()


@scenarios
def current_modes_can_be_disabled(T):
    module = part(T, "utils._python_dispatch")
    mode = logging_mode(T)
    with mode:
        T.ones(2)
        with module._disable_current_modes() as old:
            T.zeros(2)
            count = T._C._len_torch_dispatch_stack()
        T.empty(2)
    return mode.log, len(old), count


@scenarios
def a_mode_can_be_entered_again_while_active(T):
    mode = logging_mode(T)
    with mode, mode:
        T.ones(2) + 1
    return mode.log


@scenarios
def an_exception_leaves_the_stack_as_it_was(T):
    mode = logging_mode(T)

    def failing():
        with mode:
            raise KeyError("x")

    return caught(failing), T._C._len_torch_dispatch_stack()


@scenarios.each(
    nothing=lambda T: None, number=lambda T: 3, text=lambda T: "a", two=lambda T: (T.ones(2), T.ones(2)),
    listed=lambda T: [T.ones(2)], declined=lambda T: NotImplemented,
)  # fmt: skip
def answers_are_checked(T, make):
    x, mode = T.ones(2), answering(T, make(T))
    graph = T.ones(2, requires_grad=True)

    def under(call):
        with mode:
            return call()

    calls = (
        lambda: x + x,
        lambda: T.add(graph, graph),
        lambda: x.max(0),
        lambda: x.add_(1),
        lambda: T.equal(x, x),
    )
    return [caught(functools.partial(under, call)) for call in calls]


@scenarios
def a_list_is_what_a_list_must_be(T):
    x = T.ones(2)
    found = []
    for answer in (None, 3, "a"):
        with answering(T, answer):
            found.append(caught(lambda: x.split(1)))
    return found


@scenarios
def a_view_is_no_input(T):
    x = T.ones(2)
    with answering(T, x):
        return caught(lambda: x.view(2)), caught(lambda: x.split(1))


@scenarios
def autograd_is_above(T):
    found = []

    class Mode(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            found.append((str(func), T.is_grad_enabled(), made.requires_grad, made.grad_fn is None))
            return made

    x = T.ones(2, requires_grad=True)
    with Mode():
        y = x * 3
    return found, y.requires_grad, y.grad_fn.name(), T.autograd.grad(y.sum(), x)[0]


@scenarios
def what_a_mode_answers_is_recorded_as_the_op(T):
    class Doubles(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            return made * 2 if "mul" in str(func) else made

    x = T.full((2,), 3.0, requires_grad=True)
    with Doubles():
        y = x * x
    return y, T.autograd.grad(y.sum(), x)[0]


@scenarios
def writes_count_once(T):
    x = T.zeros(3)
    with logging_mode(T):
        x.add_(1)
        x[1:].mul_(2)
        T.add(x, x, out=x)
    return x._version, x


@scenarios
def views_are_views(T):
    x = T.ones(2, 3, requires_grad=True)
    with logging_mode(T):
        y = x.t()
        z = y[0]
    return y._is_view(), y._base is x, z._base is x, y.grad_fn.name(), z.grad_fn.name()


@scenarios
def a_leaf_is_not_written(T):
    x = T.ones(2, requires_grad=True)
    with logging_mode(T):
        return caught(lambda: x.add_(1)), caught(lambda: T.add(x, 1, out=T.empty(2)))


@scenarios
def layers_above_can_be_entered_again(T):
    enable = T.overrides.enable_reentrant_dispatch
    found = []

    class Mode(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with T.enable_grad():
                leaf = T.ones(2, requires_grad=True)
                found.append((leaf * 2).requires_grad)
                with enable():
                    found.append((leaf * 2).requires_grad)
            return func(*args, **(kwargs or {}))

    x = T.ones(2, requires_grad=True)
    with Mode():
        x + 1
    return found


@scenarios
def function_modes_are_above_dispatch_modes(T):
    order = []

    class Function(T.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            order.append(("function", func.__name__))
            return func(*args, **(kwargs or {}))

    class Dispatch(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append(("dispatch", str(func)))
            return func(*args, **(kwargs or {}))

    with Dispatch(), Function():
        T.nn.functional.linear(T.ones(2, 3), T.ones(4, 3))
    return order


@scenarios
def operators_are_the_objects_of_torch_ops(T):
    found = []

    class Mode(part(T, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found.append((func is T.ops.aten.add.Tensor, func.overloadpacket is T.ops.aten.add, str(func._schema)))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with Mode():
        x + x
    return found


@scenarios
def alias_info_says_what_the_schema_says(T):
    info = part(T, "utils._python_dispatch").get_alias_info
    ops = T.ops.aten
    functions = (ops.add.Tensor, ops.add_.Tensor, ops.view.default, ops.split.Tensor, ops.t_.default)
    return [
        (made.is_inplace_view_op, made.outs_write_aliases, made.read_only_alias_match_indexes,
         [(sorted(one.alias_set), one.is_write, one.name) for one in (*made.args, *made.outs)])
        for made in map(info, functions)
    ]  # fmt: skip


@scenarios.each(
    pointwise=lambda x: x * 2 + x, reduction=lambda x: x.sum(), product=lambda x: x @ x, view=lambda x: x.t()
)  # fmt: skip
def batches_are_taken_apart_above(T, f):
    names = seen(T, lambda: T.func.vmap(f)(T.ones(4, 3, 3)), values=False)
    return [
        name for name in names if name != "aten.permute.default"
    ]  # ours puts the batch in its place though it is there


@scenarios.each(
    t_=lambda T, a: (a * 2).t_(),
    squeeze_=lambda T, a: (a * 2)[:1].clone().squeeze_(0),
)
def gradients_of_geometry_in_place(T, f):
    a = T.arange(9.0).reshape(3, 3).requires_grad_()
    with logging_mode(T, False):
        made = f(T, a)
    with logging_mode(T, False):
        (made * made).sum().backward()
    return a.grad, type(made.grad_fn).__name__


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def test_arguments_are_shown_by_shape():
    """What the scenarios above compare tells tensors apart."""
    import mindtorch

    assert shown(mindtorch, (mindtorch.ones(2), {"a": [mindtorch.ones(3)]})) == ("T[2]", {"a": ["T[3]"]})
