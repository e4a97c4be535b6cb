"""Grad mode and inference mode: as contexts, decorators, on generators and coroutines, across threads; inference tensors."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def modes(T: Any) -> tuple[bool, bool]:
    return T.is_grad_enabled(), T.is_inference_mode_enabled()


CONTEXTS = {
    "no_grad": lambda T: T.no_grad(),
    "enable_grad": lambda T: T.enable_grad(),
    "set_false": lambda T: T.set_grad_enabled(False),
    "set_true": lambda T: T.set_grad_enabled(True),
    "inference": lambda T: T.inference_mode(),
    "inference_false": lambda T: T.inference_mode(False),
}


@scenarios.each(**CONTEXTS)
def as_context(T, case):
    seen = [modes(T)]
    with case(T):
        seen.append(modes(T))
        with T.enable_grad():
            seen.append(modes(T))
        with T.no_grad():
            seen.append(modes(T))
            with case(T):
                seen.append(modes(T))
        seen.append(modes(T))
    seen.append(modes(T))
    return seen


@scenarios.each(**CONTEXTS)
def as_decorator(T, case):
    @case(T)
    def inside(x):
        return modes(T), x * 2

    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        first = inside(x)
    return first, inside(x), modes(T), inside.__name__


@scenarios.each(**CONTEXTS)
def leaves_on_error(T, case):
    def go():
        with case(T):
            raise ValueError("inside")

    return caught(go), modes(T)


@scenarios
def bare_decorators(T):
    @T.no_grad
    def quiet(x):
        return x * 2

    @T.enable_grad
    def loud(x):
        return x * 2

    @T.inference_mode
    def inferring(x):
        return x * 2

    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        recorded = loud(x)
    return quiet(x), recorded, inferring(x).is_inference()


@scenarios
def decorated_class(T):
    with pytest.warns(FutureWarning) as seen:

        @T.no_grad()
        class Thing:
            def __init__(self):
                self.mode = modes(T)

    return Thing().mode, str(seen[0].message)


@scenarios
def set_grad_enabled_as_function(T):
    seen = []
    switch = T.set_grad_enabled(False)
    seen.append(modes(T))
    T.set_grad_enabled(True)
    seen.append((modes(T), repr(switch), switch.mode))

    @T.set_grad_enabled(False)
    def quiet():
        return modes(T)

    seen.append((modes(T), quiet(), modes(T)))
    return (
        seen,
        caught(lambda: T.set_grad_enabled("x")),
        caught(lambda: T.set_grad_enabled(0)),
        T.set_grad_enabled(True).prev,
    )


@scenarios
def reused_context(T):
    context, seen = T.no_grad(), []
    for _ in range(2):
        with context:
            seen.append(modes(T))
        seen.append(modes(T))
    return seen


@scenarios
def generators(T):
    log = []

    @T.no_grad()
    def steps():
        try:
            log.append(("start", modes(T)))
            got = yield 1
            log.append((got, modes(T)))
            try:
                yield 2
            except ValueError as error:
                log.append((str(error), modes(T)))
                yield 3
            return 9
        finally:
            log.append(("end", modes(T)))

    run = steps()
    log.append((next(run), modes(T)))
    log.append((run.send("sent"), modes(T)))
    log.append((run.throw(ValueError("thrown")), modes(T)))
    try:
        next(run)
    except StopIteration as stop:
        log.append((stop.value, modes(T)))
    return log


@scenarios
def generator_closed_early(T):
    log = []

    @T.no_grad()
    def steps():
        try:
            yield 1
            yield 2
        finally:
            log.append(modes(T))

    run = steps()
    next(run)
    run.close()
    return log, modes(T)


@scenarios
def generator_that_raises(T):
    @T.no_grad()
    def steps():
        yield modes(T)
        raise ValueError("inside")

    run = steps()
    first = next(run)
    return first, caught(lambda: next(run)), modes(T)


@scenarios
def generator_uses_outer_enable(T):
    @T.enable_grad()
    def steps(x):
        for _ in range(2):
            yield (x * 2).requires_grad

    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        return list(steps(x)), (x * 2).requires_grad


@scenarios
def coroutines(T):
    @T.no_grad()
    async def work():
        before = modes(T)
        await asyncio.sleep(0)
        return before, modes(T)

    return asyncio.run(work()), modes(T)


@scenarios
def threads_start_with_defaults(T):
    seen = []
    with T.no_grad():
        thread = threading.Thread(target=lambda: seen.append(modes(T)))
        thread.start()
        thread.join()
        seen.append(modes(T))
    with T.inference_mode():
        thread = threading.Thread(target=lambda: seen.append(modes(T)))
        thread.start()
        thread.join()
    return seen


@scenarios
def what_no_grad_does(T):
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        y = x * 2
        z = x.detach().requires_grad_()
        factory = T.ones(2, requires_grad=True)
        parameter = T.nn.Parameter(T.ones(2))
        view = x.view(2, 1)
    return (
        y,
        y.is_leaf,
        z.requires_grad,
        factory.requires_grad,
        parameter.requires_grad,
        view.requires_grad,
        view.grad_fn,
    )


@scenarios
def inference_tensors(T):
    normal = T.ones(2, 3, requires_grad=True)
    plain = T.ones(2, 3)
    with T.inference_mode():
        made = T.ones(2, 3)
        computed = normal * 2
        view = normal[0]
        plain_view = plain[0]
        copied = made.clone()
        made.add_(1)
        inner = (made.is_inference(), computed.is_inference(), view.is_inference(), plain_view.is_inference())
        with T.inference_mode(False):
            outside = T.ones(2).is_inference()
    return [
        inner,
        outside,
        computed.requires_grad,
        copied.is_inference(),
        view._is_view(),
        made[0].is_inference(),
        (made * 2).is_inference(),
        made.clone().is_inference(),
        made.detach().is_inference(),
        T.is_inference(made),
        caught(lambda: made._version),
        caught(lambda: made.add_(1)),
        caught(lambda: made[0].add_(1)),
        caught(lambda: made.requires_grad_()),
        caught(lambda: normal * made),
        caught(lambda: (normal + made).grad_fn),
        caught(lambda: view.add_(1)),
        caught(lambda: plain_view.add_(1)),
        caught(lambda: plain_view.add_(normal[0])),
        caught(lambda: normal.detach().copy_(computed)),
        caught(lambda: made.backward()),
    ]


@scenarios
def inference_writes_to_normal(T):
    normal, leaf = T.ones(2), T.ones(2, requires_grad=True)
    with T.inference_mode():
        normal.add_(1)
        leaf.add_(1)
        view = normal.view(2)
        view.mul_(3)
    return normal, normal._version, leaf, leaf._version, normal.is_inference()


@scenarios
def backward_in_modes(T):
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    with T.no_grad():
        y.backward()
    z = (x * 2).sum()
    with T.inference_mode():
        text = caught(z.backward)
    return x.grad, x.grad.requires_grad, text


@scenarios
def optimizer_like_step(T):
    w = T.ones(3, requires_grad=True)
    for _ in range(3):
        (w * w).sum().backward()
        with T.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    return w, w.grad, w.is_leaf, w._version


@scenarios
def multithreading_switch(T):
    seen = [T.autograd.grad_mode.set_multithreading_enabled(True).mode]
    with T.autograd.set_multithreading_enabled(False):
        x = T.ones(2, requires_grad=True)
        (x * 2).sum().backward()
    return seen, x.grad


@scenarios
def names(T):
    return [
        T.no_grad.__module__,
        T.enable_grad.__module__,
        T.set_grad_enabled.__module__,
        T.inference_mode.__module__,
        T.autograd.no_grad is T.no_grad,
        T.autograd.grad_mode.inference_mode is T.inference_mode,
        T.autograd.forward_ad is not None,
        callable(T.autograd.gradcheck),
        T.autograd.Variable is not None,
    ]
