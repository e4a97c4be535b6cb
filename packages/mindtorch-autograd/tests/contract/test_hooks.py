"""Hooks: of tensors, of nodes, after accumulation, of several tensors; order, changes, removal, errors."""

from __future__ import annotations

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


@scenarios
def tensor_hook_sees_and_changes(T):
    x, log = leaf(T), []
    y = x * 2
    y.register_hook(lambda g: log.append(("y", g)))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log.append(("y after", g)))
    x.register_hook(lambda g: log.append(("x", g)))
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    return log, x.grad


@scenarios
def removal(T):
    x, log = leaf(T), []
    first = x.register_hook(lambda g: log.append("first"))
    x.register_hook(lambda g: log.append("second"))
    (x * 2).sum().backward()
    first.remove()
    first.remove()
    (x * 2).sum().backward()
    with x.register_hook(lambda g: log.append("third")):
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    return log, type(first).__name__


@scenarios
def removal_from_within(T):
    x, log = leaf(T), []
    handles = []

    def once(grad):
        log.append("once")
        handles[0].remove()

    handles.append(x.register_hook(once))
    x.register_hook(lambda g: log.append("always"))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    return log


RESULTS = {
    "number": lambda T, g: 3,
    "shape": lambda T, g: g[:1],
    "dtype": lambda T, g: g.double(),
    "tuple": lambda T, g: (g,),
    "string": lambda T, g: "x",
    "none": lambda T, g: None,
    "detached": lambda T, g: g.detach(),
    "expandable": lambda T, g: g.sum(),
}


@scenarios.each(**RESULTS)
def wrong_results(T, case):
    x = leaf(T)

    def hook(grad):
        return case(T, grad)

    y = x * 2
    y.register_hook(hook)
    return caught(lambda: y.sum().backward()), x.grad


@scenarios
def wrong_result_of_a_lambda_and_a_method(T):
    class Hooked:
        def method(self, grad):
            return grad[:1]

        def __call__(self, grad):
            return 3

    results = []
    for hook in (lambda g: g[:2], Hooked().method, Hooked()):
        x = leaf(T)
        x.register_hook(hook)
        results.append(caught(lambda x=x: (x * 2).sum().backward()))
    return results


@scenarios
def registration_errors(T):
    plain, y = T.ones(3), leaf(T) * 2
    return [
        caught(lambda: plain.register_hook(print)),
        caught(lambda: plain.register_post_accumulate_grad_hook(print)),
        caught(lambda: y.register_post_accumulate_grad_hook(print)),
        caught(lambda: plain.retain_grad()),
    ]


@scenarios
def raising_hook(T):
    x = leaf(T)

    def hook(grad):
        raise ValueError("from the hook")

    handle = x.register_hook(hook)
    first = caught(lambda: (x * 2).sum().backward())
    handle.remove()
    (x * 2).sum().backward()
    return first, x.grad


@scenarios
def hooks_of_an_intermediate_after_inplace(T):
    x, log = leaf(T), []
    y = x * 2
    y.register_hook(lambda g: log.append(("before", g)))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("after", g)))
    y.sum().backward()
    return log, x.grad


@scenarios
def retain_grad_then_inplace(T):
    x = leaf(T)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


@scenarios
def hooks_of_a_view_after_base_is_written(T):
    x, log = leaf(T), []
    y = x * 1
    v = y[:2]
    v.register_hook(lambda g: log.append(("view", g)))
    y.mul_(2)
    v.register_hook(lambda g: log.append(("view again", g)))
    (v * 5).sum().backward()
    return log, x.grad


@scenarios
def retain_grad(T):
    x = leaf(T)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    z = y * y
    z.retain_grad()
    z.sum().backward(retain_graph=True)
    first = y.grad.clone()
    z.sum().backward()
    x.retain_grad()
    return first, y.grad, z.grad, y.retains_grad, x.retains_grad, z.grad.grad_fn


@scenarios
def retain_grad_runs_after_hooks(T):
    x = leaf(T)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    return y.grad, x.grad


@scenarios
def retain_grad_of_grad_call(T):
    x = leaf(T)
    y = x * 2
    y.retain_grad()
    grads = T.autograd.grad((y * y).sum(), [x, y])
    return grads, y.grad


@scenarios
def post_accumulate(T):
    x, log = leaf(T), []
    x.register_post_accumulate_grad_hook(lambda p: log.append(("post", p is x, p.grad.clone())))
    x.register_hook(lambda g: log.append("tensor"))
    handle = x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
    (x * 2).sum().backward()
    log.append(x.grad)
    handle.remove()
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    log.append(caught(lambda: T.autograd.grad((x * 2).sum(), x)))
    return log, x.grad


@scenarios
def node_hooks_see_what_post_accumulate_hooks_made(T):
    x, log = leaf(T), []
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda given, gradients: log.append(gradients[0].clone()))
    x.register_post_accumulate_grad_hook(lambda p: p.grad.add_(0.5) is None or None)
    for _ in range(2):
        (x * 2).sum().backward()
    return log, x.grad


@scenarios
def post_accumulate_hooks_that_return(T):
    answers = [
        (lambda p: p,),
        (lambda p: p.detach().add_(1),),
        (lambda p: p.data.add_(1) is None,),
        (lambda p: p.clone(), lambda p: p),
        (lambda p: T.zeros(2),),
        (lambda p: T.zeros(p.shape, dtype=T.double),),
        (lambda p: (p,),),
    ]
    seen = []
    for hooks in answers:
        x = leaf(T)
        for hook in hooks:
            x.register_post_accumulate_grad_hook(hook)
        seen.append((caught(lambda x=x: (x * 2).sum().backward()), x, x.grad))
    x = leaf(T)
    x.register_post_accumulate_grad_hook(lambda p: p.add_(p.grad, alpha=-0.1))
    (x * 2).sum().backward()
    return seen, x


@scenarios
def node_hooks(T):
    x, log = leaf(T), []
    y = x * x
    z = y.sum()
    y.grad_fn.register_hook(lambda gi, go: log.append(("post", gi, go)))
    y.grad_fn.register_prehook(lambda go: log.append(("pre", go)))
    y.register_hook(lambda g: log.append(("tensor", g)))
    z.backward()
    return log, x.grad


@scenarios
def node_hooks_change(T):
    x = leaf(T)
    y = x * 2
    y.grad_fn.register_prehook(lambda go: (go[0] * 3,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, *gi[1:]))
    y.sum().backward()
    return x.grad


@scenarios
def node_hook_wrong_results(T):
    results = []
    for answer in (3, (1, 2, 3), [None], "text", (None,), (T.ones(2),)):
        for register in ("register_hook", "register_prehook"):
            x = leaf(T)
            y = x * 2
            getattr(y.grad_fn, register)(lambda *a, answer=answer: answer)
            results.append(caught(lambda y=y: y.sum().backward()))
    return results


@scenarios
def node_hook_removal(T):
    x, log = leaf(T), []
    y = x * 2
    pre = y.grad_fn.register_prehook(lambda go: log.append("pre"))
    post = y.grad_fn.register_hook(lambda gi, go: log.append("post"))
    y.sum().backward(retain_graph=True)
    pre.remove()
    post.remove()
    y.sum().backward()
    return log


@scenarios
def accumulate_grad_node_hooks(T):
    x, log = leaf(T), []
    node = (x * 1).grad_fn.next_functions[0][0]
    node.register_hook(lambda gi, go: log.append(("post", gi, go, x.grad.clone())))
    node.register_prehook(lambda go: log.append(("pre", go)))
    x.register_hook(lambda g: log.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda p: log.append("accumulated"))
    (x * 2).sum().backward()
    return log


@scenarios
def order_over_the_graph(T):
    x, log = leaf(T), []
    a = x * 2
    b = x + 1
    c = a * b
    d = b.exp()
    e = (c + d).sum()
    for name, one in dict(x=x, a=a, b=b, c=c, d=d, e=e).items():
        one.register_hook(lambda g, name=name: log.append(name))
        if one.grad_fn is not None:
            one.grad_fn.register_hook(lambda gi, go, name=name: log.append(f"node {name}"))
    e.backward()
    return log


@scenarios
def order_of_several_roots(T):
    x, log = leaf(T), []
    a, b, c = x * 2, x * 3, x * 4
    for name, one in dict(a=a, b=b, c=c).items():
        one.register_hook(lambda g, name=name: log.append(name))
    T.autograd.backward([b.sum(), a.sum(), c.sum()])
    return log, x.grad


@scenarios
def multi_grad_all(T):
    x, y, log = leaf(T), leaf(T, 4.0, 5.0, 6.0), []
    register = T.autograd.graph.register_multi_grad_hook
    handle = register([x, y], lambda grads: log.append(grads))
    (x * y).sum().backward()
    (x * 2).sum().backward()
    handle.remove()
    (x * y).sum().backward()
    return log


@scenarios
def multi_grad_any(T):
    x, y, log = leaf(T), leaf(T, 4.0, 5.0, 6.0), []
    register = T.autograd.graph.register_multi_grad_hook
    a, b = x * 2, y * 3
    with register((a, b), lambda grad: log.append(grad), mode="any"):
        (a * b).sum().backward()
    (x * y).sum().backward()
    return log, caught(lambda: register((a,), print, mode="some"))


@scenarios
def multi_grad_unused_and_nested(T):
    x, y, log = leaf(T), leaf(T, 4.0, 5.0, 6.0), []
    register = T.autograd.graph.register_multi_grad_hook
    register([x, y], lambda grads: log.append(grads))
    (x * 2).sum().backward()
    T.autograd.grad((x * y).sum(), [x, y])
    T.autograd.grad((x * y).sum(), x)
    return log


@scenarios
def hooks_with_create_graph(T):
    x, log = leaf(T), []
    y = x**3
    y.register_hook(lambda g: log.append((g.requires_grad, T.is_grad_enabled())))
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    g.register_hook(lambda g: log.append("second"))
    g.sum().backward()
    return log, x.grad


@scenarios
def grad_mode_inside_hooks(T):
    x, log = leaf(T), []
    x.register_hook(lambda g: log.append(T.is_grad_enabled()))
    x.register_post_accumulate_grad_hook(lambda p: log.append(T.is_grad_enabled()))
    (x * 2).grad_fn.register_hook(lambda gi, go: log.append(T.is_grad_enabled()))
    (x * 2).sum().backward()
    with T.no_grad():
        log.append(T.is_grad_enabled())
    return log


@scenarios
def capture_sees_changed_gradients(T):
    x = leaf(T)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    y.grad_fn.register_prehook(lambda go: (go[0] * 100,))
    return T.autograd.grad((y * 1).sum(), [y, x])


@scenarios
def hook_on_leaf_made_before_and_after_use(T):
    x, log = leaf(T), []
    y = x * 2
    x.register_hook(lambda g: log.append("late"))
    y.sum().backward()
    return log


@scenarios
def hook_keeps_working_when_requires_grad_toggles(T):
    x, log = leaf(T), []
    x.register_hook(lambda g: log.append("hook"))
    x.requires_grad_(False)
    x.requires_grad_(True)
    (x * 2).sum().backward()
    return log, x.grad


@scenarios
def module_backward_hooks(T):
    log = []
    net = T.nn.Linear(2, 1)
    T.nn.init.ones_(net.weight)
    net.register_full_backward_hook(lambda m, gi, go: log.append(("full", gi, go)))
    net.register_full_backward_pre_hook(lambda m, go: log.append(("pre", go)))
    net(leaf(T, 1.0, 2.0)).sum().backward()
    return log


@scenarios
def hook_registering_hooks(T):
    x, log = leaf(T), []

    def hook(grad):
        log.append("outer")
        x.register_hook(lambda g: log.append("inner"))

    handle = x.register_hook(hook)
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    return log


@scenarios
def tensor_hooks_attribute(T):
    x = leaf(T)
    before = x._backward_hooks
    x.register_hook(lambda g: None)
    return before, type(x._backward_hooks).__name__, len(x._backward_hooks)


def test_a_view_gets_its_first_hook_after_its_base_was_written() -> None:
    x = mt.ones(3, requires_grad=True)  # torch ends in a segmentation fault here
    y = x * 1
    view, seen = y[:2], []
    y.mul_(2)
    view.register_hook(lambda grad: seen.append(grad.tolist()))
    (view * 5).sum().backward()
    assert seen == [[5.0, 5.0]]
    assert x.grad.tolist() == [10.0, 10.0, 0.0]
