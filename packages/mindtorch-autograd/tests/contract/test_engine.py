"""The engine: deep and wide graphs, re-entrant backward, threads, errors in the middle, checkpointing."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
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


def in_threads(count: int, work: Any) -> list[BaseException]:
    errors: list[BaseException] = []

    def guarded(index):
        try:
            work(index)
        except BaseException as error:  # noqa: BLE001 (reported by the caller)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@scenarios
def reentrant(T):
    log = []

    class Inner(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with T.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = (ctx.x**3).sum()
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, grad):
            log.append(T.is_grad_enabled())
            with T.enable_grad():
                ctx.y.backward()
            return ctx.x.grad * grad

    x = leaf(T)
    (Inner.apply(x * 2) * 2).backward()
    return x.grad, log


@scenarios
def reentrant_from_a_hook(T):
    x, w = leaf(T), leaf(T)
    y = x * 2
    y.register_hook(lambda g: (w * w).sum().backward())
    y.sum().backward()
    return x.grad, w.grad


def deep_function(T: Any) -> Any:
    class Deep(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            with T.enable_grad():
                ctx.x = x.detach().requires_grad_()
                ctx.y = ctx.x * 1
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth:
                with T.enable_grad():
                    Deep.apply(ctx.x, ctx.depth - 1).sum().backward()
            return grad, None

    return Deep


@scenarios
def deeply_reentrant(T):
    x = leaf(T)
    deep_function(T).apply(x, 100).sum().backward()
    return x.grad


@scenarios
def backward_of_backward_inside(T):
    x = leaf(T)

    class Outer(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with T.enable_grad():
                z = x.detach().requires_grad_()
                (g,) = T.autograd.grad((z**2).sum(), z)
            return grad * g

    Outer.apply(x).sum().backward()
    return x.grad


@scenarios
def failing_node_leaves_the_engine_usable(T):
    class Fails(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("inside")

    x, w = leaf(T), leaf(T)
    first = caught(lambda: (Fails.apply(x) * w).sum().backward())
    (x * w).sum().backward()
    return first, x.grad, T.is_grad_enabled()


@scenarios
def wide_graph(T):
    x = leaf(T)
    total = sum((x * i for i in range(300)), T.zeros(3))
    total.sum().backward()
    return x.grad


@scenarios
def diamond(T):
    x = leaf(T)
    a = x
    for _ in range(30):
        a = (a + a) * 0.5
    a.sum().backward()
    return x.grad


@scenarios
def shared_leaf_from_threads(T):
    x = leaf(T)

    def work(index):
        for _ in range(50):
            (x * (index + 1)).sum().backward()

    errors = in_threads(4, work)
    return len(errors), x.grad


@scenarios
def shared_graph_from_threads(T):
    x = leaf(T)
    y = (x * x).exp().sum()
    errors = in_threads(4, lambda index: y.backward(retain_graph=True))
    return len(errors), x.grad


@scenarios
def hooks_from_threads(T):
    x, log, lock = leaf(T), [], threading.Lock()

    def hook(grad):
        with lock:
            log.append(float(grad[0]))

    x.register_hook(hook)
    errors = in_threads(3, lambda index: [(x * 2).sum().backward() for _ in range(10)])
    return len(errors), len(log), x.grad


@scenarios
def grads_from_threads_are_separate(T):
    x, found = leaf(T), {}

    def work(index):
        (found[index],) = T.autograd.grad((x * (index + 1)).sum(), x)

    in_threads(4, work)
    return [found[index] for index in range(4)], x.grad


@scenarios
def grad_mode_of_threads(T):
    x, found = leaf(T), {}
    with T.no_grad():
        in_threads(2, lambda index: found.update({index: (x * 2).requires_grad}))
    return found


@pytest.mark.parametrize("count", [10_000, 100_000])
def test_deep_graph_without_recursion(count: int) -> None:
    x = leaf(mt)
    y = x
    for _ in range(count):
        y = y + 0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]
    del y
    z = x
    for _ in range(count):
        z = z * 1
    del z  # destruction of the chain must not recurse either
    w = x
    for _ in range(1000):
        w = w * 1
    (g,) = mt.autograd.grad(w.sum(), x, create_graph=True)
    del g, w


def test_deep_reentrance_works_within_a_small_stack() -> None:
    x = leaf(mt)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    try:
        deep_function(mt).apply(x, 200).sum().backward()
    finally:
        sys.setrecursionlimit(before)
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_plans_keep_no_tensor_of_their_first_call() -> None:
    gc.disable()
    try:
        for call in (
            lambda a: a * a,
            lambda a: mt.cat([a, a]),
            lambda a: a.t() @ a,
            lambda a: a.clone().add_(a),
            lambda a: mt.add(a.detach(), 1, out=mt.empty(3, 5)),
            lambda a: a[1:, ::2].sum(0),
            lambda a: mt.nn.functional.layer_norm(a, (5,)),
            lambda a: a.softmax(1),
            lambda a: a[mt.tensor([0, 2])],
            lambda a: mt.where(a > 0, a, a),
            lambda a: mt.einsum("ij,kj->ik", a, a),
        ):
            a = mt.randn(3, 5, requires_grad=True)
            array = weakref.ref(a)
            result = call(a)
            del a, result
            assert array() is None, call.__code__.co_firstlineno
    finally:
        gc.enable()


def test_training_loop_needs_no_cycle_collection() -> None:
    mt.manual_seed(0)
    net = mt.nn.Sequential(mt.nn.Linear(4, 8), mt.nn.GELU(), mt.nn.LayerNorm(8), mt.nn.Dropout(0.1), mt.nn.Linear(8, 2))
    optimizer = mt.optim.AdamW(net.parameters())

    def step() -> None:
        optimizer.zero_grad()
        mt.nn.functional.cross_entropy(net(mt.randn(3, 4)), mt.tensor([0, 1, 0])).backward()
        optimizer.step()

    for _ in range(5):
        step()
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(one, mt.Tensor) for one in gc.get_objects())
        for _ in range(20):
            step()
        after = sum(isinstance(one, mt.Tensor) for one in gc.get_objects())
    finally:
        gc.enable()
    assert after == before


def _seen_by_hooks(T: Any, make: Any, count: int, wanted: tuple[int, ...], **options: Any) -> Any:
    """Which gradients a node's hook sees when those of some inputs only are asked for."""
    inputs = [T.ones(shape, dtype=T.float64, requires_grad=True) for shape in make[1]]
    output = make[0](T, *inputs)
    output = output[0] if isinstance(output, tuple) else output
    seen: list[Any] = []
    output.grad_fn.register_hook(lambda into, out: seen.append([one is not None for one in into[:count]]))
    found = T.autograd.grad(output.sum(), [inputs[place] for place in wanted], **options)
    return seen, [tuple(one.shape) for one in found]


_OPERATORS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "convolution": (lambda T, x, w, b: T.nn.functional.conv2d(x, w, b), [(1, 2, 4, 4), (3, 2, 3, 3), (3,)]),
    "layer_norm": (lambda T, x, w, b: T.nn.functional.layer_norm(x, (4,), w, b), [(2, 4), (4,), (4,)]),
    "batch_norm": (lambda T, x, w, b: T.batch_norm(x, w, b, None, None, True, 0.1, 1e-5, False), [(2, 4), (4,), (4,)]),
    "group_norm": (lambda T, x, w, b: T.group_norm(x, 2, w, b), [(2, 4), (4,), (4,)]),
    "addmm": (lambda T, x, a, b: T.addmm(x, a, b), [(2, 2), (2, 3), (3, 2)]),
    "cat": (lambda T, a, b, c: T.cat([a, b, c]), [(1,), (2,), (3,)]),
    "bilinear": (lambda T, a, b, w: T.nn.functional.bilinear(a, b, w), [(2, 3), (2, 4), (5, 3, 4)]),
    "where": (lambda T, a, b, c: T.where(T.ones(2) > 0, a, b) * c, [(2,), (2,), (2,)]),
}


@pytest.mark.parametrize("name", [name for name in _OPERATORS if name != "cat"])
@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2)])
def test_only_what_is_asked_for_is_computed(name: str, wanted: tuple[int, ...]) -> None:
    """A node's hook sees None where the pass asks for nothing, as in torch."""
    assert_same(lambda T: _seen_by_hooks(T, _OPERATORS[name], 3, wanted))


def test_of_a_list_what_is_asked_for_is_passed_on() -> None:
    assert_same(lambda T: _seen_by_hooks(T, _OPERATORS["cat"], 0, (1,)))


def test_only_what_is_asked_for_is_computed_within_anomaly_detection() -> None:
    def scenario(T: Any) -> Any:
        with T.autograd.detect_anomaly(check_nan=False):
            return _seen_by_hooks(T, _OPERATORS["convolution"], 3, (0,))

    with pytest.warns(UserWarning, match="Anomaly Detection"):
        assert_same(scenario)


def test_inputs_of_backward_leave_the_others_alone() -> None:
    def scenario(T: Any) -> Any:
        x, w = (T.ones(1, 2, 4, 4, requires_grad=True), T.ones(3, 2, 3, 3, requires_grad=True))
        y = T.nn.functional.conv2d(x, w)
        seen: list[Any] = []
        y.grad_fn.register_hook(lambda into, out: seen.append([one is not None for one in into]))
        y.sum().backward(inputs=[w], retain_graph=True)
        y.sum().backward(inputs=[x])
        return seen, x.grad, w.grad

    assert_same(scenario)
