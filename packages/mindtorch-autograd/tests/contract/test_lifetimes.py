"""What a graph keeps alive, by reference counts alone, and what is left of a pass that was interrupted."""

import contextlib
import gc
import os
import signal
import time
import weakref

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


class Thing:
    """Something that a weak reference can watch."""


def double(T, keep=lambda ctx, x, y: None, backward=lambda grad: grad * 2):
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            keep(ctx, x, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return backward(grad)

    return Double


def attribute(T, x, thing):
    y = double(T, lambda ctx, *tensors: setattr(ctx, "thing", thing)).apply(x)
    return [y]


def attribute_after_backward(T, x, thing):
    y = double(T, lambda ctx, *tensors: setattr(ctx, "thing", thing)).apply(x)
    y.sum().backward()
    return [y, x.grad]


def saved_output(T, x, thing):
    return [double(T, lambda ctx, x, y: ctx.save_for_backward(x, y)).apply(x)]


def output_as_attribute(T, x, thing):
    return [double(T, lambda ctx, x, y: setattr(ctx, "y", y)).apply(x)]


def tensor_hook(T, x, thing):
    y = x * 2
    y.register_hook(lambda grad, thing=thing: None)
    return [y, y.exp()]


def own_hook(T, x, thing):
    y = x * 2
    y.register_hook(lambda grad: y is None)
    return [y]


def leaf_hooks(T, x, thing):
    x.register_hook(lambda grad, thing=thing: None)
    x.register_post_accumulate_grad_hook(lambda leaf, thing=thing: None)
    (x * 2).sum().backward()
    return [x.grad]


def node_hooks(T, x, thing):
    y = x * 2
    y.grad_fn.register_hook(lambda given, got, thing=thing: None)
    y.grad_fn.register_prehook(lambda got, thing=thing: None)
    y.grad_fn.metadata["thing"] = thing
    y.sum().backward()
    return [y]


def retained(T, x, thing):
    y = x * 2
    y.retain_grad()
    z = y.exp()
    z.sum().backward()
    return [y, z, y.grad]


def second_order(T, x, thing):
    y = x.exp() * x
    (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x, create_graph=True)
    return [y, first, second]


def written(T, x, thing):
    base = x * 1
    view = base[1:]
    view.mul_(2)
    other = base.view(3)
    other.exp_()
    base.sum().backward()
    return [base, view, other]


def written_only(T, x, thing):
    base = x * 1
    view = base[1:]
    view.mul_(2)
    view.exp_()
    return [base, view] if view.grad_fn is not None and base.grad_fn is not None else []


def saved_values(T, x, thing):
    y = x.exp()
    return [y, y.grad_fn._saved_result] if y.grad_fn._raw_saved_result is not None else []


def several_tensors(T, x, thing):
    y = x * 2
    T.autograd.graph.register_multi_grad_hook((x, y), lambda grads, thing=thing: None)
    (y * x).sum().backward()
    return [y]


def module(T, x, thing):
    layer = T.nn.Linear(3, 2)
    layer.register_full_backward_hook(lambda module, given, got, thing=thing: None)
    y = layer(x)
    y.sum().backward()
    return [y, layer, layer.weight]


def anomaly(T, x, thing):
    with T.autograd.detect_anomaly():
        y = x.exp()
        y.sum().backward()
    return [y]


def failed(T, x, thing):
    y = x * 2
    y.register_hook(lambda grad, thing=thing: 1 / 0)
    with contextlib.suppress(ZeroDivisionError):
        y.sum().backward()
    return [y]


def edge(T, x, thing):
    y = x * 2
    where = T.autograd.graph.get_gradient_edge(y)
    seen = weakref.ref(y)
    del y
    assert seen() is None
    return list(T.autograd.grad(where, x, T.ones(3)))


@scenarios.each(
    **{
        one.__name__: one
        for one in (
            attribute, attribute_after_backward, saved_output, output_as_attribute, tensor_hook, own_hook, leaf_hooks,
            node_hooks, retained, second_order, written, written_only, saved_values, several_tensors, module, anomaly,
            failed, edge,
        )
    }
)  # fmt: skip
def alive_afterwards(T, build):
    def built():
        thing, x = Thing(), T.ones(3, requires_grad=True)
        return [weakref.ref(one) for one in (thing, x, *build(T, x, thing))]

    gc.disable()
    try:
        return [one() is not None for one in built()]
    finally:
        gc.enable()


def interrupt(grad=None):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)


def outcome(T, pass_):
    """How a pass ended, and whether another one works after it."""
    handler = signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell's background job starts with it ignored
    try:
        pass_()
        end = "ended"
    except BaseException as error:  # noqa: BLE001 (KeyboardInterrupt is what is looked for)
        end = type(error).__name__, str(error)
    finally:
        signal.signal(signal.SIGINT, handler)
    x = T.ones(3, requires_grad=True)
    (x * 3).sum().backward()
    return end, x.grad, T.is_grad_enabled(), T._C._current_graph_task_id()


def within(T, hook):
    """A backward in a backward, whose inner pass meets the hook."""

    def backward(grad):
        with T.enable_grad():
            y = T.ones(3, requires_grad=True) * 2
            y.register_hook(hook)
            y.sum().backward()
        return grad

    return double(T, backward=backward).apply(T.ones(3, requires_grad=True)).sum().backward


def hooked(T, hook):
    y = T.ones(3, requires_grad=True) * 2
    y.register_hook(hook)
    return y.sum().backward


class Unusual(BaseException):
    """What `except Exception` does not catch."""


def leave(grad):
    raise SystemExit(3)


def unusual(grad):
    raise Unusual("so")


@scenarios.each(
    interrupted=lambda T: hooked(T, interrupt),
    interrupted_in_backward=lambda T: double(T, backward=interrupt).apply(T.ones(3, requires_grad=True)).sum().backward,
    interrupted_within=lambda T: within(T, interrupt),
    failing_within=lambda T: within(T, lambda grad: 1 / 0),
    leaving=lambda T: hooked(T, leave),
    leaving_within=lambda T: within(T, leave),
    unusual=lambda T: hooked(T, unusual),
    unusual_within=lambda T: within(T, unusual),
)
def usable_afterwards(T, build):
    return outcome(T, build(T))


@scenarios
def failing_at_saving(T):
    def bad(tensor):
        raise ValueError("packing")

    x = T.ones(3, requires_grad=True)

    def save():
        with T.autograd.graph.saved_tensors_hooks(bad, lambda tensor: tensor):
            x.exp()

    native = T._C._autograd
    seen = [caught(save), T.is_grad_enabled(), x.exp().grad_fn is not None]
    return [*seen, native._saved_tensors_hooks_is_enabled(), native._top_saved_tensors_default_hooks(False)]


@scenarios
def failing_once(T):
    x, calls = T.ones(3, requires_grad=True), []
    y = x.exp() * 2

    def once(grad):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("once")

    y.register_hook(once)
    return caught(lambda: y.sum().backward()), caught(lambda: y.sum().backward()), x.grad


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
