"""Nodes and contexts seen from outside: attributes, saved tensors, who takes a gradient over, what is refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings
from typing import Any

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *values: float) -> Any:
    return T.tensor(values or (1.0, 2.0, 3.0), requires_grad=True)


def warned(call: Any) -> Any:
    """The outcome of a call and its warnings, less where they come from."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        outcome = caught(call)
    return outcome, [(one.category.__name__, str(one.message).partition(" (Triggered")[0]) for one in found]


@scenarios
def attributes_of_nodes(T):
    x = leaf(T)
    node = (x * x).sum().grad_fn
    sink = node.next_functions[0][0].next_functions[0][0]
    shown = [name for name in dir(node) if not name.startswith("__")]
    metadata = node._input_metadata
    return (
        shown,
        [name for name in dir(sink) if not name.startswith("__")],
        type(metadata).__name__,
        [(tuple(one.shape), str(one.dtype), str(one.device)) for one in metadata],
        node.requires_grad,
        node._saved_self_sym_sizes,
        type(node._saved_self_sym_sizes).__name__,
        isinstance(node, T.autograd.graph.Node),
        sink.variable is x,
        caught(lambda: node.nothing),
    )


@scenarios
def holders_of_saved_tensors(T):
    x = leaf(T)
    y = x * x
    held = y.grad_fn._raw_saved_self
    before = held.unpack() is x, held.data is x, held.unpack_hook is None
    unpack = lambda kept: kept + 0  # noqa: E731
    held.register_hooks(lambda tensor: tensor * 3, unpack)
    after = held.unpack(), held.unpack_hook is unpack
    again = caught(lambda: held.register_hooks(lambda a: a, lambda a: a))
    y.sum().backward()
    return (
        before,
        after,
        again,
        x.grad,
        caught(lambda: y.grad_fn._raw_saved_self.register_hooks(lambda a: a, lambda a: a)),
        caught(lambda: type(held)()),
    )


@scenarios
def holders_of_listed_tensors(T):
    x = leaf(T)
    held = T.stack([x.exp(), x]).grad_fn
    weights = T.einsum("i,i->i", x, x).grad_fn
    return held.name(), [one.unpack() for one in (weights._raw_saved_other,)] if hasattr(
        weights, "_saved_other"
    ) else None


@scenarios
def context_of_a_call(T):
    found = []

    class Seen(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, number):
            found.append([node.name() for node, _ in ctx.next_functions])
            found.append((ctx.to_save, ctx.non_differentiable, ctx.dirty_tensors, ctx.saved_for_forward))
            found.append((ctx.needs_input_grad, ctx.saved_tensors, ctx.requires_grad, ctx.metadata))
            found.append(warned(lambda: ctx.saved_variables))
            found.append(caught(lambda: ctx.set_materialize_grads(3)))
            found.append(caught(lambda: ctx.save_for_forward(3)))
            ctx.save_for_backward(x)
            found.append(ctx.saved_tensors)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            found.append((ctx.saved_tensors, ctx.needs_input_grad, ctx.name()))
            return grad, None

    Seen.apply(leaf(T), 3).sum().backward()
    return found


@scenarios.each(
    number="3",
    three="(g, g, g)",
    nothing="()",
    none="None",
    listed="[g]",
    wider="g.double()",
    shorter="T.ones(2)",
    one="T.ones(1)",
    two_dimensional="T.ones(2, 3)",
    complex="g.to(T.complex64)",
    text="'a'",
    none_in_tuple="(None,)",
    scalar="g.sum()",
    integer="T.ones(3, dtype=T.int64)",
)
def backward_returns(T, case):
    class Returns(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return eval(case, {"T": T, "g": g})

    x = leaf(T)
    return caught(lambda: Returns.apply(x).sum().backward()), x.grad


@scenarios.each(
    none="None",
    number="3",
    pair="(x * 2, None)",
    listed="[x * 2]",
    mapping="{'a': 1}",
    mixed="(x * 2, 3, 's')",
    twice="(x, x)",
    itself="x",
    view="x.view(3)",
    views="(x.view(3), x * 2)",
    detached="x.detach()",
    nothing="()",
    nested="(x * 2, [3])",
    boolean="x > 1",
    partly="(x * 2, x > 1)",
)
def forward_returns(T, case):
    class Returns(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return eval(case, {"x": x})

        @staticmethod
        def backward(ctx, *grads):
            return T.ones(3)

    x = leaf(T)
    result = caught(lambda: Returns.apply(x))
    made = Returns.apply(x)
    tensors = [one for one in (made if isinstance(made, tuple) else (made,)) if isinstance(one, T.Tensor)]
    return result, [one.grad_fn and one.grad_fn.name() for one in tensors], [one._is_view() for one in tensors]


@scenarios.each(
    grad_variables=lambda T, x: T.autograd.backward(x * 2, grad_variables=T.ones(3)),
    both=lambda T, x: T.autograd.backward(x * 2, T.ones(3), grad_variables=T.ones(3)),
    no_inputs=lambda T, x: T.autograd.grad(x.sum(), None),
    text_input=lambda T, x: T.autograd.grad(x.sum(), "a"),
    text_output=lambda T, x: T.autograd.grad("a", x),
    only_inputs=lambda T, x: T.autograd.grad(x.sum(), x, only_inputs=False),
    number=lambda T, x: (x * 2).backward(3),
    increment=lambda T, x: T.autograd.graph.increment_version(3),
    data_number=lambda T, x: setattr(x, "data", 3),
    delete_data=lambda T, x: delattr(x, "data"),
    set_grad_fn=lambda T, x: setattr(x, "grad_fn", 3),
    set_version=lambda T, x: setattr(x, "_version", 3),
    set_leaf=lambda T, x: setattr(x, "is_leaf", True),
    set_shape=lambda T, x: setattr(x, "shape", 3),
    set_base=lambda T, x: setattr(x, "_base", 3),
    set_retains=lambda T, x: setattr(x, "retains_grad", True),
    set_of_leaf=lambda T, x: x.set_(T.ones(3)),
    callback_outside=lambda T, x: T.autograd.Variable._execution_engine.queue_callback(print),
    imag_of_real=lambda T, x: setattr(x.detach(), "imag", 3),
)
def refused(T, case):
    x = leaf(T)
    return warned(lambda: case(T, x)), x.grad


@scenarios
def callbacks_at_the_end(T):
    log = []
    x = leaf(T)
    y = x * 2
    queue = T.autograd.Variable._execution_engine.queue_callback
    y.register_hook(lambda grad: queue(lambda: log.append("done")))
    x.register_hook(lambda grad: log.append("leaf"))
    y.sum().backward()
    return log


@scenarios
def set_of_intermediate(T):
    y = leaf(T) * 1
    y.set_(T.ones(3))
    node = y.grad_fn
    return node.name(), [child and child.name() for child, _ in node.next_functions], caught(y.sum().backward)


@scenarios
def parts_of_complex_numbers_written(T):
    z = T.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = z * 1
    y.imag.mul_(3)
    names = y.grad_fn.name(), y.imag.grad_fn.name()
    pairs = T.view_as_real(y)
    pairs[0].mul_(2)
    y.abs().sum().backward()
    plain = T.tensor([1 + 2j])
    plain.real, plain.imag = 5, T.ones(1)
    w = T.ones(3, 2, requires_grad=True)
    v = w * 1
    T.view_as_complex(v)[1].mul_(2j)
    v.sum().backward()
    return names, pairs, z.grad, plain, v.grad_fn.name(), w.grad


@scenarios
def written_in_a_function_without_gradient(T):
    class Zeroed(T.autograd.Function):
        @staticmethod
        def forward(ctx, view):
            ctx.mark_dirty(view)
            return view.zero_()

        @staticmethod
        def backward(ctx, grad):
            return None

    x = leaf(T)
    y = x * 2
    Zeroed.apply(y[:2])
    y.sum().backward()
    return x.grad


@scenarios
def operand_that_is_the_target(T):
    found = []
    for write in (
        lambda y: y.mul_(y),
        lambda y: y.add_(y),
        lambda y: y[:2].mul_(y[:2]),
        lambda y: y.copy_(y * y),
        lambda y: y.pow_(2),
    ):
        x = leaf(T)
        y = x * 1
        write(y)
        found.append((caught(y.sum().backward), x.grad))
    return found


@scenarios
def fill_with_a_tensor(T):
    x, value = leaf(T), leaf(T, 2.0)
    y = x * 1
    y.fill_(value.sum())
    y.sum().backward()
    return y.grad_fn.name(), x.grad, value.grad


@scenarios
def gradients_taken_over(T):
    linear = T.nn.Linear(3, 2)
    x = T.ones(4, 3, requires_grad=True)
    linear(x).sum().backward()
    w = T.ones(2, 3, requires_grad=True)
    (w.view(6) * 2).backward(T.ones(6))
    first = w.grad
    (w.view(6) * 2).backward(T.ones(6))
    found = [(g.is_contiguous(), g._is_view(), g._version, g.grad_fn) for g in (linear.weight.grad, w.grad, x.grad)]
    return found, first is w.grad, w.grad


@scenarios
def mutation_of_saved_tensors(T):
    allow = T.autograd.graph.allow_mutation_on_saved_tensors
    with allow() as context:
        a = leaf(T)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
        b = a.clone()
        late = (b**2).sum()
    nested, hooks = [], []

    def inside():
        with allow(), allow():
            nested.append("entered")

    def with_hooks():
        with allow(), T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            hooks.append("entered")

    return a.grad, type(context).__name__, caught(late.backward), caught(inside), nested, caught(with_hooks), hooks


@scenarios
def inference_tensors_and_their_geometry(T):
    with T.inference_mode():
        made = T.ones(2, 2)
    return [
        caught(call)
        for call in (
            lambda: made.t_(),
            lambda: made.set_(T.ones(3)),
            lambda: T.add(T.ones(2, 2), 1, out=made),
            lambda: made.resize_(2),
            lambda: made.unsqueeze_(0),
            lambda: made.zero_(),
            lambda: made[0].fill_(3),
        )
    ]


@scenarios.each(
    slogdet=lambda T, a: T.linalg.slogdet(a)[1].unsqueeze_(0),
    var_mean=lambda T, a: T.var_mean(a, 1)[1].unsqueeze_(0).transpose_(0, 1),
    function=lambda T, a: _twice(T).apply(a)[1].t_(),
    first=lambda T, a: T.topk(a, 2)[0].t_(),
)
def geometry_in_place_of_an_output(T, case):
    a = (T.eye(3) * 2 + T.arange(9.0).reshape(3, 3)).requires_grad_()
    made = case(T, a)
    number = made.output_nr
    (made * T.arange(1.0, made.numel() + 1).reshape(made.shape)).sum().backward()
    rounded = a.grad.round(decimals=4) + 0  # where one LAPACK gives zero, another gives 1e-8, of either sign
    return rounded, number, type(made.grad_fn).__name__


def _twice(T):
    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 3

    return Twice


@scenarios
def module_hooks_without_inputs_to_differentiate(T):
    found = []
    for name in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        module = T.nn.Linear(2, 2)
        getattr(module, name)(lambda *given: None)
        found.append(warned(lambda module=module: module(T.ones(1, 2)).sum().backward()))
    module = T.nn.Linear(2, 2)
    module.register_full_backward_hook(lambda module, inputs, outputs: inputs[0] * 3)
    return found, caught(lambda: module(T.ones(3, 2, requires_grad=True)).sum().backward())


@scenarios.each(
    each=lambda T, x, y: T.autograd.grad(y, x, T.eye(3), is_grads_batched=True),
    two=lambda T, x, y: T.autograd.grad((y, y.sum()), x, (T.eye(3), T.ones(3)), is_grads_batched=True),
    unused=lambda T, x, y: T.autograd.grad(
        y, (x, leaf(T)), T.eye(3), is_grads_batched=True, allow_unused=True, materialize_grads=True
    ),
    several_sizes=lambda T, x, y: T.autograd.grad((y, y.sum()), x, (T.eye(3), T.ones(2)), is_grads_batched=True),
    implicit=lambda T, x, y: T.autograd.grad(y.sum(), x, None, is_grads_batched=True),
    no_batch=lambda T, x, y: T.autograd.grad(y, x, T.ones(3), is_grads_batched=True),
    other_shape=lambda T, x, y: T.autograd.grad(y, x, T.ones(3, 2), is_grads_batched=True),
)
def batches_of_gradients(T, case):
    x = leaf(T)
    return caught(lambda: case(T, x, x**2))


@scenarios
def multi_hooks_on_plain_tensors(T):
    register = T.autograd.graph.register_multi_grad_hook
    return [caught(lambda: register([leaf(T), T.ones(1)], print)), caught(lambda: register([leaf(T)], print, mode="x"))]


@scenarios
def version_kept(T):
    x = leaf(T)
    y = (x * x).sum()
    with T.autograd._unsafe_preserve_version_counter(x), T.no_grad():
        x.add_(1)
    y.backward()
    return x._version, x.grad


@scenarios
def views_written_by_functions(T):
    class Written(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    class WrittenAndMore(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return x.mul_(y), y * 2

        @staticmethod
        def backward(ctx, first, second):
            return first, second

    x = leaf(T)
    y = x * 1
    part = y[:2]
    same = Written.apply(part) is part
    names = y.grad_fn.name(), part.grad_fn.name()
    y.sum().backward()
    return (
        same,
        names,
        x.grad,
        caught(lambda: Written.apply((leaf(T) * 1).unbind()[0])),
        caught(lambda: WrittenAndMore.apply((leaf(T) * 1)[:2], leaf(T)[:2])),
        caught(lambda: [one.grad_fn.name() for one in WrittenAndMore.apply(leaf(T) * 1, leaf(T))]),
        repr(Written.apply(leaf(T) * 1).grad_fn).partition(" at ")[0],
    )


def test_a_taken_view_shares_memory_with_nothing() -> None:
    """torch takes such views over, and accumulation then writes into what the program, or another leaf, holds."""
    given = mt.ones(6)
    w = mt.ones(2, 3, requires_grad=True)
    w.view(6).backward(given)
    w.grad.mul_(5)
    assert given.tolist() == [1.0] * 6
    a, b = mt.ones(2, 3, requires_grad=True), mt.ones(2, 3, requires_grad=True)
    for _ in range(2):
        ((a.view(6) + b.view(6)) * 2).backward(mt.ones(6))
    assert a.grad.tolist() == b.grad.tolist() == [[4.0] * 3] * 2


@pytest.mark.slow
def test_backward_with_create_graph_warns_once_per_process() -> None:
    program = """
        import warnings, {module} as T
        for _ in range(2):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                (T.ones(2, requires_grad=True) * 2).sum().backward(create_graph=True)
            print([str(one.message).partition(" (Triggered")[0] for one in found])
    """
    ours, theirs = (
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program.format(module=module))],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for module in ("mindtorch", "torch")
    )
    assert ours == theirs
