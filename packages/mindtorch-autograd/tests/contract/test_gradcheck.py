"""`gradcheck` and `gradgradcheck`: what they find, and what they say of it."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()
_DIGITS = re.compile(r"\d+\.\d{6,}(e-?\d+)?")


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same(scenario)


def told(call: Any) -> Any:
    """The outcome and the warnings, long numbers to five digits."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message=".*jit.script.*")
        outcome = caught(call)
    if isinstance(outcome, tuple):
        outcome = tuple(_DIGITS.sub(lambda found: f"{float(found[0]):.5g}", part) for part in outcome)
    return outcome, [(one.category.__name__, str(one.message)) for one in found]


def values(T: Any) -> Any:
    return T.tensor([0.3, 0.58, 0.86], dtype=T.float64, requires_grad=True)


def complex_values(T: Any) -> Any:
    return T.tensor([1 + 1j, 2], dtype=T.complex128, requires_grad=True)


def square(x: Any) -> Any:
    return x**2


def function(T: Any, backward: Any, forward: Any = None, materialize: bool = True, jvp: Any = None) -> Any:
    """A custom function whose backward is called with ctx, gradient and how often it was called before."""

    class Made(T.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x)
            return x * 1 if forward is None else forward(x)

        @staticmethod
        def backward(ctx, grad):
            Made.calls += 1
            return backward(ctx, grad, Made.calls)

    if jvp is not None:
        Made.jvp = staticmethod(jvp)
    return Made.apply


def wrong(T: Any) -> Any:
    return function(T, lambda ctx, grad, _: grad * 3 * ctx.saved_tensors[0], square)


def unsteady(T: Any) -> Any:
    return function(T, lambda ctx, grad, calls: grad * (1 + (calls % 2) * 1e-4))


def ones_for_nothing(T: Any) -> Any:
    def backward(ctx, grad, calls):
        return T.ones(3, dtype=T.float64) if grad is None else grad * 1

    return function(T, backward, materialize=False)


def wrong_tangent(T: Any) -> Any:
    return function(T, lambda ctx, grad, _: grad, jvp=lambda ctx, tangent: tangent * 2)


@scenarios.each(
    right=lambda T: (square, values(T), {}),
    wrong=lambda T: (wrong(T), values(T), {}),
    wrong_fast=lambda T: (wrong(T), values(T), {"fast_mode": True}),
    wrong_quiet=lambda T: (wrong(T), values(T), {"raise_exception": False}),
    wrong_fast_quiet=lambda T: (wrong(T), values(T), {"fast_mode": True, "raise_exception": False}),
    wrong_within=lambda T: (wrong(T), values(T), {"atol": 10}),
    coarse=lambda T: (square, values(T), {"eps": 0.5}),
    coarse_within=lambda T: (square, values(T), {"eps": 0.5, "rtol": 1, "atol": 1}),
    unsteady=lambda T: (unsteady(T), values(T), {"atol": 1}),
    unsteady_within=lambda T: (unsteady(T), values(T), {"atol": 1, "nondet_tol": 0.1}),
    undefined_counts=lambda T: (ones_for_nothing(T), values(T), {}),
    undefined_fails=lambda T: (function(T, lambda ctx, grad, _: grad * 1, materialize=False), values(T), {}),
    undefined_unchecked=lambda T: (ones_for_nothing(T), values(T), {"check_undefined_grad": False}),
    constant=lambda T: (function(T, lambda ctx, grad, _: grad + 1), values(T), {}),
    no_gradient=lambda T: (function(T, lambda ctx, grad, _: None), values(T), {}),
    wrong_shape=lambda T: (function(T, lambda ctx, grad, _: grad.sum()), values(T), {}),
    wrong_type=lambda T: (function(T, lambda ctx, grad, _: grad.float()), values(T), {}),
    no_input_requires=lambda T: (square, values(T).detach(), {}),
    no_input=lambda T: (square, (), {}),
    single_precision=lambda T: (square, T.ones(3, requires_grad=True), {}),
    number=lambda T: (lambda x: 3, values(T), {}),
    tensor_and_number=lambda T: (lambda x: (x * 1, 3), values(T), {}),
    boolean=lambda T: (lambda x: x > 1, values(T), {}),
    partly_boolean=lambda T: (lambda x: (x * 1, x > 1), values(T), {}),
    integer=lambda T: (lambda x: x.long(), values(T), {}),
    independent=lambda T: (lambda x: T.ones(2, dtype=T.float64), values(T), {}),
    of_one_input=lambda T: (lambda x, y: x * 2, (values(T), values(T)), {}),
    listed=lambda T: (square, [values(T)], {}),
    batched=lambda T: (square, values(T), {"check_batched_grad": True}),
    forward=lambda T: (square, values(T), {"check_forward_ad": True}),
    forward_wrong=lambda T: (wrong_tangent(T), values(T), {"check_forward_ad": True}),
    forward_wrong_fast=lambda T: (wrong_tangent(T), values(T), {"check_forward_ad": True, "fast_mode": True}),
    nothing_asked=lambda T: (square, values(T), {"check_backward_ad": False}),
    batched_forward=lambda T: (square, values(T), {"check_batched_forward_grad": True}),
    complex=lambda T: (lambda x: x * x, complex_values(T), {}),
    complex_wrong=lambda T: (wrong(T), complex_values(T), {}),
    complex_wrong_fast=lambda T: (wrong(T), complex_values(T), {"fast_mode": True}),
    nan=lambda T: (lambda x: x * float("nan"), values(T), {}),
    written=lambda T: (lambda x: x.clone().mul_(2), values(T), {}),
    leaf_written=lambda T: (lambda x: x.mul_(2), values(T), {}),
    identity=lambda T: (lambda x: x, values(T), {}),
    stride_zero=lambda T: (square, T.ones(1, dtype=T.float64).expand(3).requires_grad_(), {}),
    failing=lambda T: (lambda x: 1 / 0, values(T), {}),
    unknown_option=lambda T: (square, values(T), {"unknown": 1}),
)
def gradcheck(T, case):
    fn, inputs, options = case(T)
    return told(lambda: T.autograd.gradcheck(fn, inputs, **options))


@scenarios.each(
    right=lambda T: (square, values(T), {}),
    wrong=lambda T: (wrong(T), values(T), {}),
    given=lambda T: (square, values(T), {"grad_outputs": T.ones(3, dtype=T.float64, requires_grad=True)}),
    nothing_asked=lambda T: (square, values(T), {"check_rev_over_rev": False}),
)
def gradgradcheck(T, case):
    fn, inputs, options = case(T)
    T.manual_seed(0)
    outcome, texts = told(lambda: T.autograd.gradgradcheck(fn, inputs, **options))
    return (outcome[0] if isinstance(outcome, tuple) else outcome), texts


def as_it_is(T: Any, backward: Any) -> Any:
    """The double, with a backward of one's own, and how often each of both was called."""
    calls = [0, 0]

    class Counted(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            calls[0] += 1
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            calls[1] += 1
            return backward(grad, calls[1])

    return Counted, calls


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("tolerance", [0.0, 1.0])
def test_reentrance_is_checked_before_values(fast: bool, tolerance: float) -> None:
    def scenario(T: Any) -> Any:
        x = T.ones(2, dtype=T.float64, requires_grad=True)
        noisy, calls = as_it_is(T, lambda grad, call: grad * (2.5 + 1e-3 * call))
        check = T.autograd.gradcheck
        return caught(lambda: check(noisy.apply, (x,), fast_mode=fast, nondet_tol=tolerance))[1].splitlines()[0], calls

    assert_same(scenario)


@pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_undefined_grad": False}])
def test_as_many_calls(options: Any) -> None:
    def scenario(T: Any) -> Any:
        x = T.ones(2, dtype=T.float64, requires_grad=True)
        double, calls = as_it_is(T, lambda grad, call: grad * 2)
        return T.autograd.gradcheck(double.apply, (x,), **options), calls

    assert_same(scenario)


def test_batched_tangents_are_checked() -> None:
    def scenario(T: Any) -> Any:
        x = T.arange(1.0, 4.0, dtype=T.float64).requires_grad_()
        options = {"check_forward_ad": True, "check_batched_forward_grad": True, "check_batched_grad": True}
        return T.autograd.gradcheck(lambda x: x * x.sin(), (x,), **options)

    assert_same(scenario)


def test_tangents_that_cannot_be_batched() -> None:
    def scenario(T: Any) -> Any:
        x = T.arange(1.0, 4.0, dtype=T.float64).requires_grad_()
        fw = T.autograd.forward_ad

        def through(x: Any) -> Any:
            primal, tangent = fw.unpack_dual(x)
            return x * 2 if tangent is None else fw.make_dual(primal * 2, tangent * 2 + 0 * tangent.sum().item())

        options = {"check_forward_ad": True, "check_batched_forward_grad": True, "check_backward_ad": False}
        outcome = caught(lambda: T.autograd.gradcheck(through, (x,), **options))
        return outcome[0], outcome[1].splitlines()[1:]  # the first line says what cannot be batched, in another way

    assert_same(scenario)
