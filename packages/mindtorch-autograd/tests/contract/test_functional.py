"""`autograd.functional`, `gradcheck`, `forward_ad`: values and texts."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same_results, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def values(T: Any, *shape: int, start: float = 0.5) -> Any:
    count = 1
    for extent in shape:
        count *= extent
    return (T.arange(count, dtype=T.float64) * 0.25 + start).reshape(shape)


FUNCTIONS = {
    "vector": (lambda x: x.exp() * x, 1),
    "matrix": (lambda x: x.sin().sum(), 1),
    "two_inputs": (lambda x, y: x * y + x**2, 2),
    "two_outputs": (lambda x: (x * 2, x.exp().sum()), 1),
    "two_and_two": (lambda x, y: (x * y, (x - y).pow(3)), 2),
    "independent": (lambda x, y: x * 2, 2),
    "constant": (lambda x: x.detach() * 2, 1),
    "linear": (lambda x: x * 3, 1),
    "number": (lambda x: 3, 1),
    "list": (lambda x: [x * 2, x], 1),
    "scalar": (lambda x: (x**3).sum(), 1),
    "scalar_two": (lambda x, y: (x**2 * y).sum(), 2),
    "scalar_linear": (lambda x: x.sum(), 1),
    "scalar_ignores": (lambda x, y: (x**3).sum(), 2),
}
OPTIONS = [{}, {"create_graph": True}, {"strict": True}, {"create_graph": True, "strict": True}]


@scenarios.each(**FUNCTIONS)
def jacobian(T, case):
    fn, count = case
    inputs = tuple(values(T, 3, start=n + 0.5) for n in range(count))
    given = inputs if count > 1 else inputs[0]
    return [caught(lambda o=o: T.autograd.functional.jacobian(fn, given, **o)) for o in OPTIONS]


@scenarios.each(**FUNCTIONS)
def hessian(T, case):
    fn, count = case
    inputs = tuple(values(T, 3, start=n + 0.5) for n in range(count))
    given = inputs if count > 1 else inputs[0]
    return [caught(lambda o=o: T.autograd.functional.hessian(fn, given, **o)) for o in OPTIONS]


@scenarios.each(**FUNCTIONS)
def products(T, case):
    fn, count = case
    functional = T.autograd.functional
    inputs = tuple(values(T, 3, start=n + 0.5) for n in range(count))
    given = inputs if count > 1 else inputs[0]
    results = []
    for product in (functional.vjp, functional.jvp, functional.hvp, functional.vhp):
        for v in (None, inputs, inputs[0], T.ones(2, dtype=T.float64), (inputs[0], T.ones(2, dtype=T.float64)), 3):
            results.append(caught(lambda product=product, v=v: product(fn, given, v)))
        for options in OPTIONS[1:]:
            results.append(caught(lambda product=product, o=options: product(fn, given, given, **o)))
    return results


@scenarios
def wrong_inputs(T):
    functional = T.autograd.functional
    return [
        caught(lambda name=name, given=given: getattr(functional, name)(lambda *x: x[0] * 2, given))
        for name in ("vjp", "jvp", "hvp", "vhp", "jacobian", "hessian")
        for given in (3, (values(T, 2), 3), [values(T, 2)])
    ]


@scenarios
def strategies(T):
    functional, x = T.autograd.functional, values(T, 2)
    fn = lambda x: x.exp()  # noqa: E731
    return [
        caught(lambda: functional.jacobian(fn, x, vectorize=True)),
        caught(lambda: functional.jacobian(fn, x, vectorize=True, strategy="forward-mode")),
        caught(lambda: functional.jacobian(fn, x, strategy="forward-mode")),
        caught(lambda: functional.jacobian(fn, x, strategy="sideways")),
        caught(lambda: functional.jacobian(fn, x, create_graph=True, strategy="forward-mode")),
        caught(lambda: functional.jacobian(fn, x, strict=True, vectorize=True)),
        caught(lambda: functional.jacobian(fn, x, strict=True, vectorize=True, strategy="forward-mode")),
        caught(lambda: functional.hessian(lambda x: fn(x).sum(), x, vectorize=True)),
        caught(lambda: functional.hessian(lambda x: fn(x).sum(), x, outer_jacobian_strategy="forward-mode")),
        caught(lambda: functional.hessian(lambda x: fn(x).sum(), x, outer_jacobian_strategy="sideways")),
    ]


@scenarios
def shapes_of_jacobians(T):
    x, empty = values(T, 2, 3), values(T, 0, 3)
    jac = T.autograd.functional.jacobian
    return jac(lambda x: x.sum(1), x).shape, jac(lambda x: x @ x.t(), x).shape, jac(lambda x: x.sum(1), empty).shape


@scenarios
def products_are_differentiable(T):
    x = values(T, 3).requires_grad_()
    _, product = T.autograd.functional.vjp(lambda x: x**3, x, T.ones(3, dtype=T.float64), create_graph=True)
    product.sum().backward()
    jac = T.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    jac.sum().backward()
    return product, jac, x.grad


def wrong_function(T: Any, factor: float) -> Any:
    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * factor

    return Wrong.apply


@scenarios
def gradcheck(T):
    x = values(T, 2, 2).requires_grad_()
    check, checks = T.autograd.gradcheck, T.autograd.gradgradcheck
    z = (values(T, 2) + 1j).requires_grad_()
    return [
        check(lambda x: x.exp(), (x,)),
        check(lambda x: (x.exp(), x.sum()), x),
        check(lambda x, n: x**n, (x, 3)),
        checks(lambda x: x.exp() * x, (x,)),
        check(lambda z: z * z, (z,)),
        checks(lambda z: z * z.conj(), (z,)),
        check(lambda x: x.exp(), (x,), check_forward_ad=True),
        check(wrong_function(T, 3), (x,), raise_exception=False),
        check(wrong_function(T, 2), (x,)),
        caught(lambda: check(wrong_function(T, 3), (x,))),
        caught(lambda: check(lambda x: x * 2, (x.detach(),))),
        caught(lambda: check(lambda x: x.detach() * 2, (x,))),
        caught(lambda: check(lambda x: x.expand(2, 2, 2), (values(T, 1).expand(3).requires_grad_(),))),
        caught(lambda: check(lambda x: x, (x,), check_backward_ad=False)),
        T.autograd.gradcheck.__module__,
        issubclass(T.autograd.gradcheck.__globals__["GradcheckError"], RuntimeError),
    ]


@scenarios
def gradcheck_warns_of_single_precision(T):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        T.autograd.gradcheck(lambda x: x * 2, (T.ones(1, requires_grad=True),), eps=1e-2, atol=1e-1)
    return [str(one.message) for one in seen]


@scenarios
def dual_numbers(T):
    fw = T.autograd.forward_ad
    x, t = values(T, 3), values(T, 3, start=2.0)
    seen = []
    with fw.dual_level() as level:
        seen.append(level)
        dual = fw.make_dual(x, t)
        seen.append((dual._is_view(), dual is x, dual))
        for fn in (
            lambda d: d * d,
            lambda d: d.sin().exp(),
            lambda d: d.detach(),
            lambda d: d.floor(),
            lambda d: d > 1,
            lambda d: d[1:] * 2,
            lambda d: T.stack([d, d]).sum(0),
            lambda d: T.zeros(3, dtype=T.float64).add_(d),
            lambda d: d.softmax(0) @ d,
        ):
            seen.append(tuple(fw.unpack_dual(fn(dual))))
        buffer = T.zeros(2, 3, dtype=T.float64)
        buffer[0] = dual
        seen.append(tuple(fw.unpack_dual(buffer)))
        with T.no_grad():
            seen.append(tuple(fw.unpack_dual(dual * 2)))
        kept = dual * 2
    seen.append(tuple(fw.unpack_dual(kept)))
    return seen


@scenarios
def dual_number_errors(T):
    fw = T.autograd.forward_ad
    x = T.ones(3)
    seen = [caught(lambda: fw.make_dual(x, x)), caught(lambda: fw.exit_dual_level())]
    with fw.dual_level():
        dual = fw.make_dual(x, x)
        seen += [
            caught(lambda: fw.make_dual(x, T.ones(2))),
            caught(lambda: fw.make_dual(T.ones(3, dtype=T.int64), x)),
            caught(lambda: fw.make_dual(x, T.ones(3, dtype=T.int64))),
            caught(lambda: fw.make_dual(dual, x)),
            caught(lambda: fw.enter_dual_level()),
            caught(lambda: fw.unpack_dual(3)),
            caught(lambda: fw.make_dual(3, x)),
        ]
    return seen


@scenarios
def dual_through_modules(T):
    T.manual_seed(0)
    fw = T.autograd.forward_ad
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2)).double()
    x, t = values(T, 2, 3), values(T, 2, 3, start=1.0)
    with fw.dual_level():
        out = fw.unpack_dual(net(fw.make_dual(x, t)))
        out.tangent.sum().backward()
    return out.primal, out.tangent, [p.grad for p in net.parameters()]


@scenarios
def function_with_jvp(T):
    fw = T.autograd.forward_ad

    class Square(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 2 * ctx.saved_tensors[0]

    class Plain(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

    x = values(T, 3)
    with fw.dual_level():
        dual = fw.make_dual(x, T.ones_like(x))
        return tuple(fw.unpack_dual(Square.apply(dual))), caught(lambda: Plain.apply(dual))


@scenarios
def hessian_options(T):
    x = T.arange(1.0, 4.0)
    cube, square = lambda x: (x**3).sum(), lambda x: (x**2).sum()
    hessian = T.autograd.functional.hessian
    return [
        hessian(lambda x: square(x).reshape(1), x),
        hessian(lambda x: square(x).reshape(1, 1), x),
        hessian(cube, x, vectorize=True),
        *(
            caught(lambda options=options: hessian(cube, x, **options))
            for options in (
                {"vectorize": True, "strict": True},
                {"vectorize": True, "create_graph": True, "outer_jacobian_strategy": "forward-mode"},
                {"strict": True, "outer_jacobian_strategy": "forward-mode"},
                {"outer_jacobian_strategy": "forward-mode"},
                {"outer_jacobian_strategy": "other"},
            )
        ),
    ]


@scenarios
def pre_hooks_that_return_a_tensor(T):
    layer = T.nn.Linear(2, 2)
    layer.register_full_backward_pre_hook(lambda module, grad: grad[0] * 3)
    return [caught(lambda rows=rows: layer(T.ones(rows, 2, requires_grad=True)).sum().backward()) for rows in (1, 2)]
