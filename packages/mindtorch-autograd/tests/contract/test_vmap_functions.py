"""Custom functions inside of transforms, against torch."""

from __future__ import annotations

from typing import Any

import pytest

from .sides import Scenarios, assert_same_results

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def values(T: Any) -> Any:
    return T.arange(6.0, dtype=T.float64).reshape(2, 3) + 0.5


def make(T: Any, **members: Any) -> Any:
    """Return x ** 3 * y as a custom function, with other members."""

    def forward(x: Any, y: Any) -> Any:
        return x**3 * y

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    def backward(ctx: Any, grad: Any) -> Any:
        x, y = ctx.saved_tensors
        return grad * 3 * x**2 * y, grad * x**3

    chosen = {"forward": forward, "setup_context": setup_context, "backward": backward} | members
    return type("Cube", (T.autograd.Function,), {
        name: staticmethod(one) if callable(one) else one for name, one in chosen.items() if one is not None
    })  # fmt: skip


def old_style(T: Any) -> Any:
    class Double(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    return Double.apply


def rule(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
    x = x if in_dims[0] is None else x.movedim(in_dims[0], 0)
    y = y if in_dims[1] is None else y.movedim(in_dims[1], 0)
    return x**3 * y * info.batch_size, 0


CALLS = {
    "vmap": lambda T, f: T.func.vmap(f)(values(T), values(T)),
    "vmap_one": lambda T, f: T.func.vmap(f, in_dims=(0, None))(values(T), values(T)[0]),
    "vmap_dims": lambda T, f: T.func.vmap(f, in_dims=(1, -1), out_dims=1)(values(T), values(T)),
    "vmap_twice": lambda T, f: T.func.vmap(T.func.vmap(f))(values(T), values(T)),
    "grad": lambda T, f: T.func.grad(lambda x, y: f(x, y).sum(), (0, 1))(values(T), values(T)),
    "vmap_of_grad": lambda T, f: T.func.vmap(T.func.grad(lambda x, y: f(x, y).sum(), (0, 1)))(values(T), values(T)),
    "vmap_of_grad_shared": lambda T, f: T.func.vmap(T.func.grad(lambda x, y: f(x, y).sum(), (0, 1)), in_dims=(None, 0))(
        values(T)[0], values(T)
    ),
    "grad_of_vmap": lambda T, f: T.func.grad(lambda x, y: T.func.vmap(f, in_dims=(0, None))(x, y).sum(), (0, 1))(
        values(T), values(T)[1]
    ),
    "jacrev": lambda T, f: T.func.jacrev(f)(values(T)[0], values(T)[1]),
    "vmap_of_vjp": lambda T, f: T.func.vmap(lambda x, y: T.func.vjp(f, x, y)[1](x))(values(T), values(T)),
    "recorded": lambda T, f: (lambda x: T.autograd.grad(T.func.vmap(f)(x, values(T)).sum(), x))(
        values(T).requires_grad_()
    ),
}


@scenarios.each(**CALLS)
def generated_rule(T: Any, case: Any) -> Any:
    return case(T, make(T, generate_vmap_rule=True).apply)


@scenarios.each(**{name: case for name, case in CALLS.items() if name != "vmap_twice"})
def own_rule(T: Any, case: Any) -> Any:
    return case(T, make(T, vmap=rule).apply)


TEXTS = {
    "no_rule": {},
    "both": {"generate_vmap_rule": True, "vmap": rule},
    "one_result": {"vmap": lambda info, in_dims, x, y: x},
    "wrong_dims": {"vmap": lambda info, in_dims, x, y: (x, (0, 0))},
    "old": {"setup_context": None, "forward": lambda ctx, x, y: x, "generate_vmap_rule": True},
}


@scenarios.each(**TEXTS)
def refusals(T: Any, case: Any) -> Any:
    return T.func.vmap(make(T, **case).apply)(values(T), values(T))


OLD = {
    "vmap": lambda T, f: T.func.vmap(f)(values(T)),
    "grad": lambda T, f: T.func.grad(lambda x: f(x).sum())(values(T)),
    "jvp": lambda T, f: T.func.jvp(f, (values(T),), (values(T),)),
    "jacfwd": lambda T, f: T.func.jacfwd(f)(values(T)),
    "linearize": lambda T, f: T.func.linearize(f, values(T)),
}


@scenarios.each(**OLD)
def functions_without_setup_context(T: Any, case: Any) -> Any:
    return case(T, old_style(T))


NO_JVP = {
    "jvp": lambda T, f: T.func.jvp(f, (values(T), values(T)), (values(T), values(T))),
    "jacfwd": lambda T, f: T.func.jacfwd(f)(values(T), values(T)),
    "hessian": lambda T, f: T.func.hessian(lambda x: f(x, x).sum())(values(T)),
}


@scenarios.each(**NO_JVP)
def functions_without_jvp(T: Any, case: Any) -> Any:
    return case(T, make(T, generate_vmap_rule=True).apply)


@scenarios
def what_a_rule_is_told(T):
    seen = []

    def own(info, in_dims, x, y):
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape)))
        return x, 0

    function = make(T, vmap=own).apply
    T.func.vmap(function, randomness="same")(values(T), values(T))
    T.func.vmap(function, in_dims=(0, None))(values(T), values(T)[0])
    T.func.vmap(lambda x: function(x, T.ones(2)))(values(T))
    return seen
