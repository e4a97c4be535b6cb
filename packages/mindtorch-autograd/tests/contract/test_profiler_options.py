"""Options of the profiler that few programs use, and what the engine's events say of its sums."""

import os
import tempfile

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


def names(T, run):
    """The sums that a piece of a program makes, in order."""
    with T.autograd.profiler.profile() as found:
        run()
    return [event.name for event in found.function_events if "add" in event.name]


@scenarios
def sums_are_made_in_place_where_nobody_sees(T):
    y = T.ones(3, requires_grad=True) * 1
    given, kept = T.ones(3), []

    def held_by_a_hook():
        z = y * 2
        a, b = z.exp(), z.clone()
        a.register_hook(kept.append)
        (a + b + z).sum().backward(retain_graph=True)

    return [
        names(T, lambda: T.autograd.grad((y.exp() + y.sin() + y.cos()).sum(), y)),
        names(T, lambda: T.autograd.backward([y, y], [given, given], retain_graph=True)),
        names(T, held_by_a_hook),
        names(T, lambda: T.autograd.grad((y.exp() + y.sin()).sum(), y, create_graph=True)),
        names(T, lambda: T.autograd.grad((y * 2 + y * 3).sum(), y, create_graph=True)),
        given,
        kept,
    ]


@scenarios
def sums_leave_gradients_alone_that_others_hold(T):
    kept = []
    x = T.ones(3, requires_grad=True)
    z = x * 2
    parts = [z.exp(), z.sin(), z * 3, z.view(3), z]
    for one in parts[:3]:
        one.register_hook(kept.append)
        one.grad_fn.register_hook(lambda given, got: kept.append(given[0]))
    z.register_hook(kept.append)
    sum(one.sum() for one in parts).backward(retain_graph=True)
    first = [one.clone() for one in kept]
    sum(one.sum() for one in parts).backward()
    return [T.allclose(one, other) for one, other in zip(first, kept, strict=False)], x.grad


@scenarios
def sums_leave_saved_tensors_alone(T):
    class Saved(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0]

    z = T.ones(3, requires_grad=True) * 1
    one, two = Saved.apply(z), Saved.apply(z)
    before = one.detach().clone()
    (found,) = T.autograd.grad((one + two).sum(), z)
    return T.equal(one, before), found


@scenarios
def traces_are_written_once(T):
    with T.profiler.profile() as found:
        T.ones(2) + 1
    with tempfile.TemporaryDirectory() as folder:  # never a device: torch puts a new file in its place
        path = os.path.join(folder, "trace.json")
        return [caught(lambda: found.export_chrome_trace(path)), caught(lambda: found.export_chrome_trace(path))]


@scenarios
def directories_that_cannot_be(T):
    with T.profiler.profile() as found:
        T.ones(2) + 1
    return caught(lambda: T.profiler.tensorboard_trace_handler("/dev/null/there")(found))


@scenarios.each(default={}, named={"capture_overload_names": True})
def overload_names(T, options):
    config = T.profiler._ExperimentalConfig(**options)
    with T.profiler.profile(experimental_config=config) as found:
        T.ones(2) + 1
    named = {event.overload_name for event in found.events() if event.name == "aten::add"}
    return sorted(named), "Overload Name" in found.key_averages(group_by_overload_name=True).table()


@scenarios
def kinds(T):
    activity = T.profiler.ProfilerActivity
    return [(one.name, int(one)) for one in map(activity.__members__.get, sorted(activity.__members__))]


@scenarios
def places(T):
    return repr(T.profiler.profiler.profile), T.profiler.profiler.profile is T.profiler.profile


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
