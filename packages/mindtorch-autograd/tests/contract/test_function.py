"""`autograd.Function`: both styles, ctx, what backward may return, marks, double backward, threads."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught, graph

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *values: float, dtype: Any = None) -> Any:
    return T.tensor(values or (1.0, 2.0, 3.0), dtype=dtype or T.float32, requires_grad=True)


def function(T: Any, forward: Any, backward: Any, **more: Any) -> Any:
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    members.update({name: staticmethod(member) for name, member in more.items()})
    return type("Custom", (T.autograd.Function,), members)


@scenarios
def a_write_into_a_view(T):
    class Adds(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, grad * 3

    a, b = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    base = a.clone()
    made = Adds.apply(base.view_as(base), b)
    made.sum().backward()
    return made, a.grad, b.grad, type(made.grad_fn.next_functions[0][0]).__name__


@scenarios
def old_style(T):
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * scale

    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x * ctx.scale, None

    x = leaf(T)
    y = function(T, forward, backward).apply(x, 3)
    y.sum().backward()
    return y, x.grad, graph(y.grad_fn), y.grad_fn.name(), type(y.grad_fn).__name__, type(y.grad_fn).__module__


@scenarios
def new_style(T):
    def setup(ctx, inputs, output):
        x, scale = inputs
        ctx.save_for_backward(x, output)
        ctx.scale = scale

    def backward(ctx, grad):
        x, _out = ctx.saved_tensors
        return grad * 2 * x * ctx.scale, None

    x = leaf(T)
    y = function(T, lambda x, scale: x * x * scale, backward, setup_context=setup).apply(x, 3)
    y.sum().backward()
    return y, x.grad


@scenarios
def ctx_attributes(T):
    seen = []

    def forward(ctx, x, n, y, z):
        seen.append((ctx.needs_input_grad, T.is_grad_enabled(), x.requires_grad, x.grad_fn, type(ctx).__name__))
        ctx.note = "note"
        return x + y

    def backward(ctx, grad):
        seen.append((ctx.needs_input_grad, ctx.note, T.is_grad_enabled(), ctx.name(), grad.requires_grad))
        return grad, None, grad if ctx.needs_input_grad[2] else None, None

    x = leaf(T)
    y = function(T, forward, backward).apply(x * 1, 3, T.ones(3), None)
    y.sum().backward()
    node = y.grad_fn
    return seen, x.grad, node.note, node.needs_input_grad, node.saved_tensors, node.metadata


RETURNS = {
    "too_few": lambda T, g: g,
    "too_many": lambda T, g: (g, None, g),
    "trailing_none": lambda T, g: (g, None, None, None),
    "for_number": lambda T, g: (g, g),
    "number": lambda T, g: (3, None),
    "text": lambda T, g: ("x", None),
    "shape": lambda T, g: (g[:2], None),
    "expandable": lambda T, g: (g.expand(2, 3), None),
    "scalar": lambda T, g: (g.sum(), None),
    "dtype": lambda T, g: (g.double(), None),
    "integer": lambda T, g: (g.long(), None),
    "list": lambda T, g: [g, None],
    "none": lambda T, g: None,
    "all_none": lambda T, g: (None, None),
    "nothing": lambda T, g: (),
    "complex": lambda T, g: (g * 1j, None),
}


@scenarios.each(**RETURNS)
def wrong_returns(T, case):
    x = leaf(T)
    y = function(T, lambda ctx, x, n: x * n, lambda ctx, g: case(T, g)).apply(x, 2)
    return caught(lambda: y.sum().backward()), x.grad


FORWARDS = {
    "number": lambda T, x: 3,
    "none": lambda T, x: None,
    "tuple": lambda T, x: (x * 2, x * 3),
    "list": lambda T, x: [x * 2, x * 3],
    "mixed": lambda T, x: (x * 2, 5, None, "text"),
    "integer": lambda T, x: (x * 2, x.long()),
    "input": lambda T, x: x,
    "view": lambda T, x: x[1:],
    "detached": lambda T, x: x.detach(),
    "empty_tuple": lambda T, x: (),
    "dict": lambda T, x: {"a": x * 2},
    "twice": lambda T, x: (lambda y: (y, y))(x * 2),
}


@scenarios.each(**FORWARDS)
def outputs(T, case):
    def backward(ctx, *grads):
        return sum(g for g in grads if g is not None and g.shape == (3,))

    x = leaf(T)
    out = caught(lambda: function(T, lambda ctx, x: case(T, x), backward).apply(x))
    raw = []

    def look():
        result = function(T, lambda ctx, x: case(T, x), backward).apply(x)
        for one in result if isinstance(result, tuple) else (result,):
            if isinstance(one, T.Tensor):
                raw.append((one is x, one.requires_grad, one.grad_fn, one.output_nr, one._is_view()))

    return out, caught(look), raw


@scenarios
def input_returned_as_is(T):
    x = leaf(T)
    y = function(T, lambda ctx, x: x, lambda ctx, g: g * 5).apply(x)
    z = y * 2
    z.sum().backward()
    return y is x, y.grad_fn, x.grad, x.is_leaf, caught(lambda: y.add_(1))


@scenarios
def view_returned(T):
    x = leaf(T)
    base = x * 1
    custom = function(T, lambda ctx, x: x[1:], lambda ctx, g: T.nn.functional.pad(g, (1, 0)) * 5)
    y = custom.apply(base)
    y.sum().backward()
    other = custom.apply(x * 1)
    return x.grad, y._is_view(), y.grad_fn, caught(lambda: other.add_(1))


@scenarios
def unused_output_gradients(T):
    seen = []

    def backward(ctx, *grads):
        seen.append(grads)
        return sum(g for g in grads if g is not None)

    def plain(ctx, x):
        return x * 2, x * 3

    def unmaterialized(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    results = []
    for forward in (plain, unmaterialized):
        x = leaf(T)
        a, _b = function(T, forward, backward).apply(x)
        a.sum().backward()
        results.append(x.grad)
    return seen, results


@scenarios
def mark_dirty(T):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    custom = function(T, forward, lambda ctx, g: g * 2)
    x = leaf(T)
    base = x * 1
    y = custom.apply(base)
    y.sum().backward()
    on_leaf = caught(lambda: custom.apply(leaf(T)))
    other = leaf(T) * 1
    view = other[1:]
    out = custom.apply(view)
    return y is base, y.grad_fn, base._version, x.grad, on_leaf, out is view, graph(other.grad_fn), out.grad_fn


@scenarios
def mark_dirty_and_not_returned(T):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x.clone()

    def wrong(ctx, x):
        ctx.mark_dirty(3)
        return x * 1

    return [
        caught(lambda: function(T, forward, lambda ctx, g: g).apply(leaf(T) * 1)),
        caught(lambda: function(T, wrong, lambda ctx, g: g).apply(leaf(T))),
    ]


@scenarios
def written_without_mark(T):
    def forward(ctx, x):
        x.mul_(2)
        return x

    x = leaf(T)
    base = x * 1
    y = function(T, forward, lambda ctx, g: g * 2).apply(base)
    return y is base, y, base._version, y.grad_fn


@scenarios
def mark_non_differentiable(T):
    def forward(ctx, x):
        values, order = x.sort()
        positive = x > 1
        extra = x * 2
        ctx.mark_non_differentiable(order, positive, extra)
        return values, order, positive, extra

    seen = []

    def backward(ctx, *grads):
        seen.append(grads)
        return grads[0]

    x = leaf(T, 3.0, 1.0)
    values, order, positive, extra = function(T, forward, backward).apply(x)
    values.sum().backward()
    return order.requires_grad, positive.requires_grad, extra.requires_grad, extra.grad_fn, extra.is_leaf, seen, x.grad


@scenarios
def save_errors(T):
    def saves_number(ctx, x):
        ctx.save_for_backward(3)
        return x * 2

    def saves_list(ctx, x):
        ctx.save_for_backward([x])
        return x * 2

    def forward_only(ctx, x):
        ctx.save_for_forward(3)
        return x * 2

    def twice(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x, x)
        return x * 2

    seen = []

    def backward(ctx, g):
        seen.append(len(ctx.saved_tensors))
        return g

    results = [
        caught(lambda f=f: function(T, f, backward).apply(leaf(T)).sum().backward())
        for f in (saves_number, saves_list, forward_only, twice)
    ]
    return results, seen


@scenarios
def saved_intermediate_and_modified(T):
    def forward(ctx, x):
        middle = x * 2
        ctx.save_for_backward(middle, x)
        return middle.exp()

    def backward(ctx, g):
        middle, _x = ctx.saved_tensors
        return g * middle.exp() * 2

    custom = function(T, forward, backward)
    x = leaf(T)
    base = x * 1
    y = custom.apply(base)
    z = custom.apply(base)
    z.sum().backward(retain_graph=True)
    base.add_(1)
    return x.grad, caught(lambda: y.sum().backward())


@scenarios
def freed(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    x = leaf(T)
    y = function(T, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.sum().backward()
    again = caught(lambda: y.sum().backward())
    plain = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    plain.sum().backward()
    plain.sum().backward()
    return again, caught(lambda: y.grad_fn.saved_tensors), x.grad


@scenarios
def double_backward(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2

    x = leaf(T, dtype=T.float64)
    y = function(T, forward, backward).apply(x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    return g, h, graph(g.grad_fn)


@scenarios
def double_backward_through_saved_output(T):
    def forward(ctx, x):
        out = x.exp()
        ctx.save_for_backward(out)
        return out

    def backward(ctx, g):
        (out,) = ctx.saved_tensors
        return g * out

    x = leaf(T, dtype=T.float64)
    y = function(T, forward, backward).apply(x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x, create_graph=True)
    (k,) = T.autograd.grad(h.sum(), x)
    return g, h, k


@scenarios
def once_differentiable(T):
    once = T.autograd.function.once_differentiable

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]

    custom = function(T, forward, once(backward))
    x = leaf(T)
    custom.apply(x).sum().backward()
    (g,) = T.autograd.grad(custom.apply(x).sum(), x, create_graph=True)
    y = custom.apply(x * 1)
    (h,) = T.autograd.grad(y, x, leaf(T), create_graph=True)
    return (
        x.grad,
        g.requires_grad,
        caught(lambda: g.sum().backward()),
        h.requires_grad,
        caught(lambda: h.sum().backward()),
    )


@scenarios
def no_inputs_require_grad(T):
    seen = []

    def forward(ctx, x):
        seen.append(ctx.needs_input_grad)
        ctx.save_for_backward(x)
        ctx.thing = 1
        return x * 2

    custom = function(T, forward, lambda ctx, g: g)
    y = custom.apply(T.ones(3))
    with T.no_grad():
        z = custom.apply(leaf(T))
    return y.requires_grad, y.grad_fn, z.requires_grad, z.grad_fn, seen


@scenarios
def keywords_and_nesting(T):
    x = leaf(T)
    custom = function(T, lambda ctx, x, n: x * n, lambda ctx, g: (g, None))
    inner = function(T, lambda ctx, x: custom.apply(x, 3) + 1, lambda ctx, g: g * 3)
    y = inner.apply(x)
    y.sum().backward()
    listed = function(T, lambda ctx, xs: xs[0] * 2, lambda ctx, g: None)
    return x.grad, y.grad_fn, caught(lambda: custom.apply(x, n=2)), listed.apply([x]).requires_grad


@scenarios
def inputs_in_containers_and_optional(T):
    def forward(ctx, x, flag=True, *rest):
        return x * (2 if flag else 3) + sum(rest)

    def backward(ctx, g):
        return (g * 2, None, *[g] * (len(ctx.needs_input_grad) - 2)) if len(ctx.needs_input_grad) > 1 else g * 2

    x, y = leaf(T), leaf(T)
    custom = function(T, forward, backward)
    custom.apply(x).sum().backward()
    custom.apply(x, False, y, y).sum().backward()
    return x.grad, y.grad


@scenarios
def misuse(T):
    class NoForward(T.autograd.Function):
        pass

    class NoSetup(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x

    class Both(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

        @staticmethod
        def vjp(ctx, g):
            return g

    class OnlyVjp(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = leaf(T)
    OnlyVjp.apply(x).sum().backward()
    return [
        caught(lambda: NoForward.apply(x)),
        caught(lambda: NoForward()(x)),
        caught(lambda: NoSetup.apply(x)),
        caught(lambda: Both.apply(x).sum().backward()),
        x.grad,
    ]


@scenarios
def raising(T):
    def fail(*args):
        raise ValueError("inside")

    x = leaf(T)
    first = caught(lambda: function(T, fail, fail).apply(x))
    y = function(T, lambda ctx, x: x * 2, fail).apply(x)
    return first, caught(lambda: y.sum().backward()), T.is_grad_enabled(), (x * 2).requires_grad


@scenarios
def hooks_on_custom_nodes(T):
    log = []
    x = leaf(T)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi, go)))
    y.grad_fn.register_prehook(lambda go: log.append(("pre", go)))
    y.register_hook(lambda g: log.append(("tensor", g)))
    y.sum().backward()
    return log


@scenarios
def from_threads(T):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    custom = function(T, forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0])
    x = leaf(T)

    def work():
        for _ in range(20):
            custom.apply(x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return x.grad


@scenarios
def inplace_after(T):
    x = leaf(T)
    y = function(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x)
    y.add_(1)
    y.mul_(3)
    a, _b = function(T, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g * 2 + h * 3).apply(x)
    a.mul_(2)
    (y.sum() + a.sum()).backward()
    return x.grad, graph(y.grad_fn)


@scenarios
def gradient_dtype_and_device_checks(T):
    x = leaf(T, dtype=T.float16)
    y = function(T, lambda ctx, x: x.float() * 2, lambda ctx, g: g * 2).apply(x)
    y.sum().backward()
    return y.dtype, x.grad


@scenarios
def inheritance_and_shared_state(T):
    class Base(T.autograd.Function):
        factor = 2

        @classmethod
        def scaled(cls, x):
            return x * cls.factor

        @staticmethod
        def forward(ctx, x):
            return Child.scaled(x)

        @staticmethod
        def backward(ctx, g):
            return g * Child.factor

    class Child(Base):
        factor = 5

    x = leaf(T)
    y = Child.apply(x)
    y.sum().backward()
    return y, x.grad, y.grad_fn.name()


@scenarios
def nested_io_and_traceable_names(T):
    module = T.autograd.function
    return sorted(
        name
        for name in (
            "Function",
            "FunctionCtx",
            "BackwardCFunction",
            "InplaceFunction",
            "NestedIOFunction",
            "FunctionMeta",
            "once_differentiable",
            "traceable",
        )
        if hasattr(module, name)
    )
