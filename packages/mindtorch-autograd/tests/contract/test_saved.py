"""Saved tensors: attributes of nodes, pack and unpack hooks, their order and errors, save_on_cpu, when they are freed."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def leaf(T: Any, *shape: int, start: float = 1.0) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    return (T.arange(count, dtype=T.float32).reshape(shape) + start).requires_grad_()


ATTRIBUTES = {
    "mul": (lambda T, a: a * (a + 1), ("self", "other")),
    "mul_scalar": (lambda T, a: a * 3, ("self",)),
    "mul_one_side": (lambda T, a: a * a.detach(), ("self", "other")),
    "add": (lambda T, a: a.add(a, alpha=2), ("alpha", "self")),
    "exp": (lambda T, a: a.exp(), ("result", "self")),
    "pow": (lambda T, a: a**2, ("self", "exponent", "result")),
    "sum": (lambda T, a: a.sum(), ("self_sym_sizes", "self")),
    "sum_dim": (lambda T, a: a.sum(1), ("self_sym_sizes", "dim", "keepdim")),
    "tanh": (lambda T, a: a.tanh(), ("result",)),
    "select": (lambda T, a: a[1], ("dim", "index", "self_sym_sizes")),
    "slice": (lambda T, a: a[:, 1:], ("dim", "start", "step", "self_sym_sizes")),
    "transpose": (lambda T, a: a.transpose(0, 1), ("dim0", "dim1")),
    "permute": (lambda T, a: a.permute(1, 0), ("dims",)),
    "view": (lambda T, a: a.view(6), ("self_sym_sizes",)),
    "max_dim": (lambda T, a: a.max(1)[0], ("dim", "indices", "keepdim", "self_sym_sizes")),
    "softmax": (lambda T, a: a.softmax(1), ("dim", "result")),
    "mm": (lambda T, a: a @ a.t(), ("self", "mat2")),
    "div": (lambda T, a: a / a, ("self", "other")),
    "relu": (lambda T, a: a.relu(), ("result",)),
    "clamp": (lambda T, a: a.clamp(0, 2), ("min", "max", "self")),
    "where": (lambda T, a: T.where(a > 2, a, a), ("condition",)),
    "cat": (lambda T, a: T.cat([a, a]), ("dim",)),
    "index": (lambda T, a: a[T.tensor([1])], ("indices", "self_sym_sizes")),
}


@scenarios.each(**ATTRIBUTES)
def saved_attributes(T, case):
    call, names = case
    node = call(T, leaf(T, 2, 3)).grad_fn
    return [caught(lambda name=name: getattr(node, f"_saved_{name}")) for name in names], [
        caught(lambda: node._saved_nothing),
    ]


@scenarios
def saved_identity(T):
    x = leaf(T, 3)
    y = x * 2
    z = y * y
    w = z.exp()
    return [
        z.grad_fn._saved_self is y,
        w.grad_fn._saved_result is w,
        w.grad_fn._saved_result.grad_fn is w.grad_fn,
        w.grad_fn._saved_result.requires_grad,
        z.grad_fn._saved_self.grad_fn.name(),
    ]


@scenarios
def freed_attributes(T):
    x = leaf(T, 3)
    y = x * x
    z = y.exp()
    z.sum().backward()
    return [
        caught(lambda: z.grad_fn._saved_result),
        caught(lambda: y.grad_fn._saved_self),
        caught(lambda: y.sum().grad_fn._saved_self_sym_sizes),
    ]


@scenarios
def second_backward(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    z = (x + 1).sum()
    y.backward()
    z.backward()
    kept = (x * x).sum()
    kept.backward(retain_graph=True)
    kept.backward()
    return [
        caught(y.backward),
        caught(z.backward),
        caught(kept.backward),
        caught(lambda: T.autograd.grad(y, x)),
        x.grad,
    ]


@scenarios
def partly_freed_graph(T):
    x = leaf(T, 3)
    shared = x * x
    first, second = (shared * 2).sum(), (shared * 3).sum()
    first.backward()
    return caught(second.backward), x.grad


@scenarios
def hooks_order(T):
    x, log = leaf(T, 3), []

    def pack(t):
        log.append(("pack", t))
        return len(log), t

    def unpack(packed):
        log.append(("unpack", packed[0]))
        return packed[1] * 10

    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * 2).exp()
        z = y * x
    z.sum().backward()
    return log, x.grad


@scenarios
def hooks_nest(T):
    x, log = leaf(T, 3), []
    pair = lambda name: T.autograd.graph.saved_tensors_hooks(  # noqa: E731
        lambda t: (log.append(f"pack {name}"), t)[1], lambda t: (log.append(f"unpack {name}"), t)[1]
    )
    with pair("outer"):
        a = x * x
        with pair("inner"):
            b = a * a
        c = b * b
    d = c * c
    d.sum().backward()
    return log, x.grad


@scenarios
def hooks_grad_mode_and_requires_grad(T):
    x, log = leaf(T, 3), []

    def pack(t):
        log.append((T.is_grad_enabled(), t.requires_grad, t.grad_fn, t.is_leaf))
        return t

    def unpack(t):
        log.append((T.is_grad_enabled(), t.requires_grad))
        return t

    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    y.sum().backward()
    return log


@scenarios
def hooks_are_not_called_for_constants(T):
    x, log = leaf(T, 3), []
    with T.autograd.graph.saved_tensors_hooks(lambda t: log.append(t.shape) or t, lambda t: t):
        x + 1
        x * 2
        T.ones(3) * 3
        with T.no_grad():
            x * x
        x * T.ones(3)
    return len(log)


@scenarios
def pack_that_writes(T):
    x = leaf(T, 3)

    def go():
        with T.autograd.graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
            return (x * 1) * (x * 2)

    return caught(go)


@scenarios
def unpack_returns_no_tensor(T):
    results = []
    for answer in (3, None, "text", [1]):
        x = leaf(T, 3)
        with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t, answer=answer: answer):
            y = x * x
        results.append(caught(lambda y=y: y.sum().backward()))
    return results


@scenarios
def pack_and_unpack_that_raise(T):
    def fail(t):
        raise ValueError("from the hook")

    x = leaf(T, 3)

    def packing():
        with T.autograd.graph.saved_tensors_hooks(fail, lambda t: t):
            return x * x

    first = caught(packing)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, fail):
        y = x * x
    return first, caught(y.sum().backward), (x * x).sum()


@scenarios
def disabled(T):
    graph = T.autograd.graph
    x = leaf(T, 3)

    def inside():
        with graph.disable_saved_tensors_hooks("no hooks here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            return x * x

    def around():
        with graph.saved_tensors_hooks(lambda t: t, lambda t: t), graph.disable_saved_tensors_hooks("not now"):
            return x * x

    def nested():
        with graph.disable_saved_tensors_hooks("outer"), graph.disable_saved_tensors_hooks("inner"):
            return x * x

    with graph.disable_saved_tensors_hooks("fine"):
        y = (x * x).sum()
    y.backward()
    return caught(inside), caught(around), caught(nested), x.grad


@scenarios
def save_on_cpu(T):
    x = leaf(T, 3)
    with T.autograd.graph.save_on_cpu():
        y = (x * x).exp() * x
    saved = y.grad_fn._saved_other
    y.sum().backward()
    return x.grad, saved is x, saved


@scenarios
def raw_saved(T):
    x, log = leaf(T, 3), []
    y = x * x
    raw = y.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t * 2)
    again = caught(lambda: raw.register_hooks(lambda t: t, lambda t: t))
    y.sum().backward()
    return log, again, x.grad, type(raw).__name__


@scenarios
def versions_with_hooks(T):
    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x * 2
        z = y * y
    y.add_(1)
    return caught(z.sum().backward), x.grad


@scenarios
def allow_mutation(T):
    x = leaf(T, 3)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 2
        z = y.exp()
        y.mul_(5)
        z.mul_(3)
        (z.sum() + y.sum()).backward()
    return x.grad


@scenarios
def hooks_with_create_graph(T):
    x, log = leaf(T, 3), []
    with T.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t):
        (g,) = T.autograd.grad((x**3).sum(), x, create_graph=True)
    n = len(log)
    (h,) = T.autograd.grad(g.sum(), x)
    return n, len(log), g, h


@scenarios
def function_saves_through_hooks(T):
    log = []

    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**3
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, y, _ = ctx.saved_tensors
            return grad * 3 * x**2 + 0 * y

    x = leaf(T, 3)
    with T.autograd.graph.saved_tensors_hooks(
        lambda t: log.append(("pack", t)) or t, lambda t: log.append("unpack") or t
    ):
        y = Cube.apply(x)
    y.sum().backward()
    return log, x.grad


def _count(T: Any, make: Any) -> list[bool]:
    gc.disable()
    try:
        held = make(T)
        return [ref() is not None for ref in held]
    finally:
        gc.enable()


@scenarios
def freed_after_backward(T):
    def make(T):
        x = leaf(T, 3)
        a = x * 2
        b = a * a
        refs = [weakref.ref(a), weakref.ref(b)]
        out = b.sum()
        del a, b
        before = [ref() is not None for ref in refs]
        out.backward()
        return [lambda value=value: value or None for value in before] + refs

    return _count(T, make)


@scenarios
def freed_without_backward(T):
    def make(T):
        x = leaf(T, 3)
        a = x.exp()
        b = a.tanh().softmax(0)
        c = b.max(0)
        refs = [weakref.ref(one) for one in (a, b, a.grad_fn if T.__name__ == "mindtorch" else a)]
        del a, b, c
        return refs

    return _count(T, make)


@scenarios
def no_cycle_through_views_inplace_and_hooks(T):
    def make(T):
        x = leaf(T, 4)
        a = x * 2
        v = a[1:]
        v.mul_(3)
        v.exp_()
        a.register_hook(lambda g: g)
        a.retain_grad()
        a.sum().backward()
        refs = [weakref.ref(a), weakref.ref(v), weakref.ref(x)]
        del a, v, x
        return refs

    return _count(T, make)


@scenarios
def no_cycle_through_function(T):
    class Twice(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def make(T):
        x = leaf(T, 4)
        y = Twice.apply(x)
        refs = [weakref.ref(x), weakref.ref(y)]
        del x, y
        return refs

    return _count(T, make)


@scenarios
def leaf_is_freed_with_its_accumulator(T):
    def make(T):
        x = leaf(T, 4)
        y = (x * 2).sum()
        y.backward()
        refs = [weakref.ref(x), weakref.ref(x.grad)]
        del x, y
        return refs

    return _count(T, make)


@scenarios
def grad_with_create_graph_is_freed(T):
    def make(T):
        x = leaf(T, 4)
        y = (x**3).sum()
        (g,) = T.autograd.grad(y, x, create_graph=True)
        refs = [weakref.ref(x), weakref.ref(y), weakref.ref(g)]
        del x, y, g
        return refs

    return _count(T, make)
