"""`backward` and `autograd.grad`: options, texts, accumulation into `.grad`, higher orders, complex gradients."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from .sides import Scenarios, assert_same_results, caught, graph

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def leaf(T: Any, *values: Any, dtype: Any = None) -> Any:
    return T.tensor(values or (1.0, 2.0, 3.0), dtype=dtype or T.float32, requires_grad=True)


BACKWARD = {
    "non_scalar": lambda T, x: (x * 2).backward(),
    "no_graph": lambda T, x: T.ones(()).backward(),
    "leaf_scalar": lambda T, x: T.ones((), requires_grad=True).backward(),
    "shape": lambda T, x: (x * 2).backward(T.ones(2)),
    "shape_scalar": lambda T, x: (x * 2).sum().backward(T.ones(2)),
    "scalar_for_vector": lambda T, x: (x * 2).backward(T.tensor(1.0)),
    "not_a_tensor": lambda T, x: (x * 2).backward(3),
    "list": lambda T, x: (x * 2).backward([1, 2, 3]),
    "dtype": lambda T, x: (x * 2).backward(T.ones(3, dtype=T.float64)),
    "int_grad": lambda T, x: (x * 2).backward(T.ones(3, dtype=T.int64)),
    "complex_grad": lambda T, x: (x * 2).backward(T.ones(3, dtype=T.complex64)),
    "integer_output": lambda T, x: x.argmax().backward(),
    "one_element": lambda T, x: (x[:1] * 2).backward(),
    "bool_output": lambda T, x: (x > 1).any().backward(),
    "inputs_empty": lambda T, x: x.sum().backward(inputs=[]),
    "inputs_leaf": lambda T, x: x.sum().backward(inputs=x),
    "inputs_non_leaf": lambda T, x: (lambda y: y.sum().backward(inputs=[y]))(x * 2),
    "inputs_no_grad": lambda T, x: x.sum().backward(inputs=[T.ones(2)]),
    "inputs_unused": lambda T, x: x.sum().backward(inputs=[leaf(T)]),
    "gradient_keyword": lambda T, x: (x * 2).backward(gradient=T.ones(3)),
    "two_positional": lambda T, x: (x * 2).sum().backward(None, True),
    "empty_outputs": lambda T, x: T.autograd.backward([]),
    "counts": lambda T, x: T.autograd.backward([x.sum(), x.sum()], [None]),
    "both": lambda T, x: T.autograd.backward([x.sum(), x * 2], [None, T.ones(3)]),
    "second_without": lambda T, x: T.autograd.backward([x.sum(), T.ones(())]),
    "grad_variables": lambda T, x: T.autograd.backward(x * 2, grad_variables=T.ones(3)),
    "grad_requires_grad": lambda T, x: (x * 2).backward(T.ones(3, requires_grad=True)),
    "complex_scalar": lambda T, x: (x * 1j).sum().backward(),
    "expanded": lambda T, x: x.expand(2, 3).backward(T.ones(2, 3)),
    "not_outputs": lambda T, x: T.autograd.backward(3),
    "grads_not_list": lambda T, x: T.autograd.backward([x.sum()], 3),
}


@scenarios.each(**BACKWARD)
def backward(T, case):
    x = leaf(T)
    return caught(lambda: case(T, x)), x.grad


GRAD = {
    "plain": lambda T, x, y: T.autograd.grad((x * y).sum(), [x, y]),
    "one": lambda T, x, y: T.autograd.grad((x * y).sum(), x),
    "repeated": lambda T, x, y: T.autograd.grad((x * y).sum(), [x, x]),
    "unused": lambda T, x, y: T.autograd.grad(x.sum(), [x, y]),
    "allow_unused": lambda T, x, y: T.autograd.grad(x.sum(), [x, y], allow_unused=True),
    "materialize": lambda T, x, y: T.autograd.grad(x.sum(), [x, y], materialize_grads=True),
    "materialize_conflict": lambda T, x, y: T.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True),
    "materialize_allow": lambda T, x, y: T.autograd.grad(x.sum(), [y], allow_unused=True, materialize_grads=True),
    "grad_outputs": lambda T, x, y: T.autograd.grad(x * y, x, T.tensor([1.0, 0.0, 2.0])),
    "grad_outputs_list": lambda T, x, y: T.autograd.grad([x * y, x + y], [x, y], [T.ones(3), T.ones(3) * 2]),
    "some_none": lambda T, x, y: T.autograd.grad([x.sum(), x + y], [x, y], [None, T.ones(3) * 2]),
    "shape": lambda T, x, y: T.autograd.grad(x * y, x, T.ones(2)),
    "too_many": lambda T, x, y: T.autograd.grad([x.sum(), y.sum()], x, [None, None, None]),
    "materialize_create": lambda T, x, y: T.autograd.grad(x.sum(), y, materialize_grads=True, create_graph=True),
    "count": lambda T, x, y: T.autograd.grad([x.sum(), y.sum()], x, [None]),
    "non_scalar": lambda T, x, y: T.autograd.grad(x * y, x),
    "not_required": lambda T, x, y: T.autograd.grad(x.sum(), T.ones(2)),
    "no_graph": lambda T, x, y: T.autograd.grad(T.ones(()), x),
    "second_no_graph": lambda T, x, y: T.autograd.grad([x.sum(), T.ones(())], x),
    "itself": lambda T, x, y: (lambda z: T.autograd.grad(z, z))(x.sum()),
    "leaf_itself": lambda T, x, y: T.autograd.grad(x, x, T.ones(3)),
    "intermediate": lambda T, x, y: (lambda z: T.autograd.grad((z * y).sum(), [z, y]))(x * 2),
    "intermediate_and_leaf": lambda T, x, y: (lambda z: T.autograd.grad((z * z).sum(), [x, z]))(x * 2),
    "view": lambda T, x, y: (lambda z: T.autograd.grad(z.sum(), z))((x * 2)[1:]),
    "multi_output": lambda T, x, y: (lambda a, b, c: T.autograd.grad((a * b).sum(), [a, b, c], allow_unused=True))(
        *(x * 2).unbind()
    ),
    "batched": lambda T, x, y: T.autograd.grad(x * y, [x, y], T.eye(3), is_grads_batched=True),
    "batched_two": lambda T, x, y: T.autograd.grad(
        [x * y, x.sum()], [x], [T.ones(2, 3), T.ones(2)], is_grads_batched=True
    ),
    "batched_unused": lambda T, x, y: T.autograd.grad(
        x * 2, [x, y], T.eye(3), is_grads_batched=True, allow_unused=True
    ),
    "batched_shape": lambda T, x, y: T.autograd.grad(x * y, x, T.ones(2, 2), is_grads_batched=True),
    "batched_create": lambda T, x, y: (
        T.autograd.grad(x * x, x, T.eye(3), is_grads_batched=True, create_graph=True)[0].requires_grad
    ),
    "integer_input": lambda T, x, y: T.autograd.grad(x.sum(), T.ones(2, dtype=T.int64)),
    "dtype_of_grad_outputs": lambda T, x, y: T.autograd.grad(x * y, x, T.ones(3, dtype=T.float64)),
    "not_a_tensor": lambda T, x, y: T.autograd.grad(x * y, x, [3]),
    "inputs_empty": lambda T, x, y: T.autograd.grad(x.sum(), []),
    "number_as_output": lambda T, x, y: T.autograd.grad(3, x),
    "tuple_as_outputs": lambda T, x, y: T.autograd.grad((x.sum(), y.sum()), (x, y)),
    "two_devices": lambda T, x, y: T.autograd.grad(x.to("meta").sum(), x, allow_unused=True)[0].device,
}


@scenarios.each(**GRAD)
def grad(T, case):
    x, y = leaf(T), leaf(T, 4.0, 5.0, 6.0)
    return caught(lambda: case(T, x, y)), x.grad, y.grad


@scenarios
def grad_then_again(T):
    x = leaf(T)
    y = (x * x).sum()
    T.autograd.grad(y, x, retain_graph=True)
    T.autograd.grad(y, x)
    return caught(lambda: T.autograd.grad(y, x))


@scenarios
def grad_keeps_what_it_does_not_run(T):
    x, w = leaf(T), leaf(T)
    y = (x * x) * (w * w)
    T.autograd.grad(y.sum(), x, retain_graph=True)
    (g,) = T.autograd.grad(y.sum(), w)
    return g, x.grad, w.grad


@scenarios
def accumulates(T):
    x = leaf(T)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    return x.grad, x.grad is first, x.grad._version, x.grad.requires_grad, x.grad.grad_fn


@scenarios
def accumulates_with_create_graph(T):
    x = leaf(T)
    (x**2).sum().backward(create_graph=True)
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    return x.grad, x.grad is first, x.grad.grad_fn.name(), first.grad_fn.name(), x.grad.is_leaf


@scenarios
def accumulates_into_given_grad(T):
    x = leaf(T)
    x.grad = given = T.ones(3) * 10
    (x * 2).sum().backward()
    y = T.ones(2, 2, requires_grad=True)
    y.grad = T.zeros(2, 2).t()
    (y * 2).sum().backward()
    return given, x.grad is given, y.grad.stride()


@scenarios
def two_leaves_never_share(T):
    x, y = leaf(T), leaf(T)
    (x + y).backward(T.ones(3))
    shared = x.grad.data_ptr() == y.grad.data_ptr()
    x.grad.add_(100)
    return shared, y.grad


@scenarios
def given_gradient_is_not_taken(T):
    x, given = leaf(T), T.ones(3)
    (x + 1).backward(given)
    x.grad.add_(5)
    z = leaf(T)
    z.backward(given)
    z.grad.add_(7)
    return given, x.grad.data_ptr() == given.data_ptr(), z.grad.data_ptr() == given.data_ptr()


@scenarios
def temporary_gradient_is_taken(T):
    x, seen = leaf(T), []
    x.register_hook(lambda g: seen.append(g.data_ptr()))
    (x * 2).backward(T.ones(3) * 2)
    y = leaf(T)
    y.register_hook(lambda g: seen.append(g.data_ptr()))
    y.expand(2, 3).sum().backward()
    return x.grad.data_ptr() == seen[0], y.grad.data_ptr() == seen[1]


@scenarios
def kept_gradient_is_not_taken(T):
    x, seen = leaf(T), []
    x.register_hook(lambda g: seen.append(g))
    (x * 2).backward(T.ones(3) * 2)
    return x.grad.data_ptr() == seen[0].data_ptr(), x.grad is seen[0]


@scenarios
def same_leaf_twice(T):
    x = leaf(T)
    (x + x).sum().backward()
    (x * x * x).sum().backward()
    return x.grad


LAYOUTS = {
    "transposed": lambda T: T.ones(3, 2).t().requires_grad_(),
    "permuted": lambda T: T.ones(2, 3, 4).permute(2, 0, 1).requires_grad_(),
    "sliced": lambda T: T.ones(4, 4)[:, ::2].requires_grad_(),
    "expanded": lambda T: T.ones(1, 3).expand(2, 3).requires_grad_(),
    "channels_last": lambda T: T.ones(2, 3, 4, 5).to(memory_format=T.channels_last).requires_grad_(),
    "scalar": lambda T: T.ones((), requires_grad=True),
    "empty": lambda T: T.ones(0, 3, requires_grad=True),
}


@scenarios.each(**LAYOUTS)
def layout_of_grad(T, case):
    x = case(T)
    (x * 2).sum().backward()
    first = x.grad.stride()
    y = case(T)
    (y * 2).backward(T.ones_like(y.detach()).contiguous())
    z = case(T)
    (z**2).sum().backward(create_graph=True)
    return first, y.grad.stride(), z.grad.stride(), x.grad.shape


@scenarios
def dtype_casts(T):
    x, half, double = leaf(T), leaf(T, dtype=T.float16), leaf(T, dtype=T.float64)
    (x * double).sum().backward()
    (half.float() * 2).sum().backward()
    b = leaf(T, dtype=T.bfloat16)
    (b * T.tensor(2.0)).sum().backward()
    return x.grad, double.grad, half.grad, b.grad


@scenarios
def broadcast_and_scalars(T):
    s, v, m = leaf(T, 2.0)[0].detach().requires_grad_(), leaf(T), T.ones(2, 3, requires_grad=True)
    (s * v + m * v - s).pow(2).sum().backward()
    k = T.ones(3, 1, requires_grad=True)
    (k * T.ones(2, 1, 4)).sum().backward()
    return s.grad, v.grad, m.grad, k.grad


@scenarios
def higher_orders(T):
    x = leaf(T, 0.5, 1.0, 2.0, dtype=T.float64)
    y = (x**4 + x.sin() * x.exp()).sum()
    results = []
    for _ in range(4):
        (y,) = T.autograd.grad(y, x, create_graph=True)
        results.append(y)
        y = y.sum()
    return results


@scenarios
def gradient_penalty(T):
    T.manual_seed(0)
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 1)).double()
    x = T.ones(2, 3, dtype=T.float64, requires_grad=True)
    (g,) = T.autograd.grad(net(x).sum(), x, create_graph=True)
    penalty = ((g.norm(2, dim=1) - 1) ** 2).mean()
    penalty.backward()
    return penalty, [p.grad for p in net.parameters()], x.grad


@scenarios
def graph_of_gradients(T):
    x = leaf(T)
    (g,) = T.autograd.grad((x * x).sum(), x, create_graph=True)
    return graph(g.grad_fn)


@scenarios
def retain_graph_false_with_create_graph(T):
    x = leaf(T)
    y = (x**3).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True, retain_graph=False)
    return caught(lambda: T.autograd.grad(y, x)), caught(lambda: T.autograd.grad(g.sum(), x))


@scenarios
def complex_gradients(T):
    z = T.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    w = T.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (w * (2 + 1j)).abs().sum().backward()
    r = leaf(T, 1.0, 2.0)
    (r * (1j + T.ones(2))).abs().pow(2).sum().backward()
    v = T.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    T.view_as_real(v).pow(2).sum().backward()
    c = T.tensor([1 + 2j], requires_grad=True)
    (c**2).backward(T.tensor([1 + 0j]))
    return z.grad, w.grad, r.grad, v.grad, c.grad


@scenarios
def nan_and_inf_flow(T):
    x = leaf(T, 0.0, 1.0, -1.0)
    x.sqrt().sum().backward()
    y = leaf(T, 0.0, 1.0)
    (1 / y).sum().backward()
    return x.grad, y.grad


@scenarios
def undefined_gradients_through_multi_output(T):
    x = leaf(T, 3.0, 1.0, 2.0)
    values, _indices = x.sort()
    a, _b = x.split([1, 2])
    (a.sum() * 2).backward()
    first = x.grad.clone()
    values[0].backward()
    _m, i = T.ones(2, 3, requires_grad=True).max(1)
    return first, x.grad, caught(lambda: i.sum().backward())


@scenarios
def module_zero_grad(T):
    T.manual_seed(0)
    net = T.nn.Linear(2, 2)
    net(T.ones(1, 2)).sum().backward()
    before = net.weight.grad
    net.zero_grad(set_to_none=False)
    zeroed = net.weight.grad is before, net.weight.grad
    net.zero_grad()
    return zeroed, net.weight.grad


@scenarios
def frozen_parameters(T):
    T.manual_seed(0)
    net = T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Linear(2, 1))
    net[0].requires_grad_(False)
    out = net(T.ones(1, 2))
    out.sum().backward()
    return [p.grad for p in net.parameters()], graph(out.grad_fn)


@scenarios
def anomaly_mode(T):
    seen = []
    with T.autograd.detect_anomaly(check_nan=True):
        x = leaf(T, -1.0, 1.0)
        with warnings.catch_warnings(record=True) as caught_warnings:
            warnings.simplefilter("always")
            seen.append(caught(lambda: (x.sqrt() * 0).sum().backward()))
        seen.append([str(w.message).split("Traceback")[0] for w in caught_warnings])
        seen.append("x.sqrt()" in str(caught_warnings[-1].message))
    with T.autograd.set_detect_anomaly(True, check_nan=False):
        x = leaf(T, -1.0, 1.0)
        x.sqrt().sum().backward()
        seen.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    seen.append((T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()))
    return seen


@scenarios
def no_derivative(T):
    class Plain(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    y = Plain.apply(leaf(T))
    return caught(lambda: y.sum().backward()), y.grad_fn.name()
