"""`torch.func`: values, nesting, texts."""

from __future__ import annotations

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


def double(x):
    return x * 2


VMAP = {
    "plain": lambda T, x: T.func.vmap(double)(x),
    "in_dim": lambda T, x: T.func.vmap(double, in_dims=1)(x),
    "both_negative": lambda T, x: T.func.vmap(double, in_dims=-1, out_dims=-1)(x),
    "out_dim": lambda T, x: T.func.vmap(double, out_dims=1)(x),
    "two": lambda T, x: T.func.vmap(lambda a, b: a @ b)(x, x),
    "one_mapped": lambda T, x: T.func.vmap(lambda a, b: a + b, in_dims=(0, None))(x, x[0]),
    "number": lambda T, x: T.func.vmap(lambda a, n: a * n, in_dims=(0, None))(x, 3),
    "dict": lambda T, x: T.func.vmap(lambda d: d["a"] * 2)({"a": x}),
    "nested_dims": lambda T, x: T.func.vmap(lambda p: p[0] + p[1], in_dims=((0, 1),))((x, x.t())),
    "tuple_out": lambda T, x: T.func.vmap(lambda a: (a, a.sum()))(x),
    "list_out": lambda T, x: T.func.vmap(lambda a: [a, a])(x),
    "out_none": lambda T, x: T.func.vmap(lambda a: (a, T.ones(4)), out_dims=(0, None))(x),
    "constant_out": lambda T, x: T.func.vmap(lambda a: T.ones(2))(x),
    "twice": lambda T, x: T.func.vmap(T.func.vmap(double, in_dims=0), in_dims=1)(x),
    "outer": lambda T, x: T.func.vmap(T.func.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(
        x[0], x[1]
    ),
    "empty": lambda T, x: T.func.vmap(double)(x[:0]),
    "chunks": lambda T, x: T.func.vmap(double, chunk_size=1)(x),
    "keyword": lambda T, x: T.func.vmap(lambda a, b: a + b)(x, b=x),
    "matmul": lambda T, x: T.func.vmap(T.mm, in_dims=(None, 0))(x, T.stack([x.t(), x.t() * 2])),
    "softmax": lambda T, x: T.func.vmap(lambda a: a.softmax(0))(x),
    "index": lambda T, x: T.func.vmap(lambda a, i: a[i])(x, T.tensor([0, 2])),
    "per_sample_gradients": lambda T, x: T.func.vmap(T.func.grad(lambda w, a: (w * a).sin().sum()), in_dims=(None, 0))(
        x[0], x
    ),
    "bad_in_dims": lambda T, x: T.func.vmap(double, in_dims="a")(x),
    "no_inputs": lambda T, x: T.func.vmap(double)(),
    "structure": lambda T, x: T.func.vmap(double, in_dims=(0, 0))(x),
    "float_dim": lambda T, x: T.func.vmap(double, in_dims=(1.5,))(x),
    "not_a_tensor": lambda T, x: T.func.vmap(double)(3),
    "dim_range": lambda T, x: T.func.vmap(double, in_dims=5)(x),
    "none": lambda T, x: T.func.vmap(double, in_dims=None)(x),
    "sizes": lambda T, x: T.func.vmap(lambda a, b: a)(x, T.ones(5)),
    "returns_number": lambda T, x: T.func.vmap(lambda a: 3)(x),
    "returns_none": lambda T, x: T.func.vmap(lambda a: None)(x),
    "out_structure": lambda T, x: T.func.vmap(double, out_dims=(0, 1))(x),
    "out_range": lambda T, x: T.func.vmap(double, out_dims=3)(x),
    "out_kind": lambda T, x: T.func.vmap(double, out_dims="a")(x),
    "randomness_kind": lambda T, x: T.func.vmap(double, randomness="x")(x),
    "chunk_kind": lambda T, x: T.func.vmap(double, chunk_size=0)(x),
    "random": lambda T, x: T.func.vmap(lambda a: a + T.rand(3))(x),
    "dropout": lambda T, x: T.func.vmap(lambda a: T.nn.functional.dropout(a))(x),
    "scalar_input": lambda T, x: T.func.vmap(double)(T.ones(())),
}


@scenarios.each(**VMAP)
def vmap(T, case):
    return caught(lambda: case(T, values(T, 2, 3)))


@scenarios
def vmap_randomness(T):
    same = T.func.vmap(lambda a: a + T.rand(3), randomness="same")(T.zeros(2, 3))
    different = T.func.vmap(lambda a: a + T.rand(3), randomness="different")(T.zeros(2, 3))
    return bool((same[0] == same[1]).all()), bool((different[0] == different[1]).all())


@scenarios
def vmap_is_differentiable(T):
    x = values(T, 2, 3).requires_grad_()
    T.func.vmap(lambda a: a.exp().sum())(x).sum().backward()
    return x.grad


def cubes(x):
    return (x**3).sum()


TRANSFORMS = {
    "grad": lambda T, x: T.func.grad(cubes)(x),
    "grad_and_value": lambda T, x: T.func.grad_and_value(cubes)(x),
    "grad_aux": lambda T, x: T.func.grad(lambda a: (cubes(a), a * 2), has_aux=True)(x),
    "grad_and_value_aux": lambda T, x: T.func.grad_and_value(lambda a: (cubes(a), {"n": a}), has_aux=True)(x),
    "grad_argnums": lambda T, x: T.func.grad(lambda a, b: (a * b**2).sum(), argnums=(0, 1))(x, x),
    "grad_second": lambda T, x: T.func.grad(lambda a, b: (a * b**2).sum(), argnums=1)(x, x),
    "grad_negative": lambda T, x: T.func.grad(lambda a, b: (a * b**2).sum(), argnums=-1)(x, x),
    "grad_tree": lambda T, x: T.func.grad(lambda d: d["a"].sum() + (d["b"][0] ** 2).sum())({"a": x, "b": [x]}),
    "grad_keyword": lambda T, x: T.func.grad(lambda a, n: cubes(a) * n)(x, n=2),
    "grad_grad": lambda T, x: T.func.grad(lambda a: T.func.grad(cubes)(a).sum())(x),
    "grad_grad_grad": lambda T, x: T.func.grad(T.func.grad(T.func.grad(lambda a: a**4)))(x[0, 0]),
    "confusion": lambda T, x: T.func.grad(lambda a: a * T.func.grad(lambda b: a + b)(T.ones(()).double()))(x[0, 0]),
    "grad_no_dependence": lambda T, x: T.func.grad(lambda a: a.detach().sum())(x),
    "grad_not_scalar": lambda T, x: T.func.grad(double)(x),
    "grad_not_tensor": lambda T, x: T.func.grad(lambda a: 3)(x),
    "grad_tuple": lambda T, x: T.func.grad(lambda a: (a.sum(), 1))(x),
    "grad_aux_missing": lambda T, x: T.func.grad(cubes, has_aux=True)(x),
    "grad_aux_short": lambda T, x: T.func.grad(lambda a: (a.sum(),), has_aux=True)(x),
    "argnum_high": lambda T, x: T.func.grad(cubes, argnums=1)(x),
    "argnum_kind": lambda T, x: T.func.grad(cubes, argnums="a")(x),
    "argnum_repeated": lambda T, x: T.func.grad(lambda a, b: cubes(a), argnums=(0, 0))(x, x),
    "argnum_empty": lambda T, x: T.func.grad(cubes, argnums=())(x),
    "no_arguments": lambda T, x: T.func.grad(cubes)(),
    "number": lambda T, x: T.func.grad(cubes)(3),
    "integer": lambda T, x: T.func.grad(cubes)(T.ones(2, dtype=T.int64)),
    "inplace_on_input": lambda T, x: T.func.grad(lambda a: a.add_(1).sum())(x),
    "vjp": lambda T, x: [T.func.vjp(double, x)[0], T.func.vjp(double, x)[1](x)],
    "vjp_two": lambda T, x: T.func.vjp(lambda a, b: a * b, x, x + 1)[1](x),
    "vjp_tuple": lambda T, x: T.func.vjp(lambda a: (a, a**2), x)[1]((x, x)),
    "vjp_dict": lambda T, x: T.func.vjp(lambda a: {"a": a}, x)[1]({"a": x}),
    "vjp_aux": lambda T, x: T.func.vjp(lambda a: (a * 2, a), x, has_aux=True)[2],
    "vjp_shape": lambda T, x: T.func.vjp(double, x)[1](T.ones(2)),
    "vjp_structure": lambda T, x: T.func.vjp(lambda a: (a, a * 2), x)[1](x),
    "vjp_number": lambda T, x: T.func.vjp(lambda a: 3, x),
    "jvp": lambda T, x: T.func.jvp(lambda a: a.sin(), (x,), (x,)),
    "jvp_two": lambda T, x: T.func.jvp(lambda a, b: a * b, (x, x + 1), (x, x)),
    "jvp_tuple": lambda T, x: T.func.jvp(lambda a: (a.exp(), {"s": a.sum()}), (x,), (x,)),
    "jvp_aux": lambda T, x: T.func.jvp(lambda a: (a * 2, a), (x,), (x,), has_aux=True),
    "jvp_constant": lambda T, x: T.func.jvp(lambda a: T.ones(2), (x,), (x,)),
    "jvp_strict": lambda T, x: T.func.jvp(lambda a: T.ones(2), (x,), (x,), strict=True),
    "jvp_no_tuple": lambda T, x: T.func.jvp(double, x, x),
    "jvp_shape": lambda T, x: T.func.jvp(double, (x,), (T.ones(2).double(),)),
    "jvp_structure": lambda T, x: T.func.jvp(double, (x,), (x, x)),
    "jvp_tangent_number": lambda T, x: T.func.jvp(double, (x,), 3),
    "jvp_empty": lambda T, x: T.func.jvp(double, (), ()),
    "jvp_number": lambda T, x: T.func.jvp(lambda a: 3, (x,), (x,)),
    "jvp_list": lambda T, x: T.func.jvp(double, [x], [x]),
    "jvp_of_grad": lambda T, x: T.func.jvp(T.func.grad(cubes), (x,), (x,)),
    "grad_of_jvp": lambda T, x: T.func.grad(lambda a: T.func.jvp(lambda b: b**3, (a,), (x,))[1].sum())(x),
    "jvp_of_jvp": lambda T, x: T.func.jvp(lambda a: T.func.jvp(lambda b: b**3, (a,), (a,))[1], (x,), (x,)),
    "jacrev": lambda T, x: T.func.jacrev(lambda a: a.sin())(x[0]),
    "jacrev_tree": lambda T, x: T.func.jacrev(lambda a, b: (a * b, {"n": a}), argnums=(0, 1))(x[0], x[1]),
    "jacrev_aux": lambda T, x: T.func.jacrev(lambda a: (a**2, a), has_aux=True)(x[0]),
    "jacrev_number": lambda T, x: T.func.jacrev(lambda a: 3)(x),
    "jacrev_argnum": lambda T, x: T.func.jacrev(double, argnums=2)(x),
    "jacrev_chunk": lambda T, x: T.func.jacrev(double, chunk_size=-1)(x),
    "jacfwd": lambda T, x: T.func.jacfwd(lambda a: a.sin().outer(a))(x[0]),
    "jacfwd_tree": lambda T, x: T.func.jacfwd(lambda a, b: (a * b, a.sum()), argnums=(0, 1))(x[0], x[1]),
    "jacfwd_aux": lambda T, x: T.func.jacfwd(lambda a: (a**2, a), has_aux=True)(x[0]),
    "jac_of_jac": lambda T, x: T.func.jacfwd(T.func.jacrev(lambda a: a**3))(x[0]),
    "hessian": lambda T, x: T.func.hessian(cubes)(x[0]),
    "hessian_two": lambda T, x: T.func.hessian(lambda a, b: (a**2 * b).sum(), argnums=(0, 1))(x[0], x[1]),
    "linearize": lambda T, x: [T.func.linearize(lambda a: a.sin(), x)[0], T.func.linearize(lambda a: a.sin(), x)[1](x)],
    "linearize_shape": lambda T, x: T.func.linearize(double, x)[1](T.ones(2)),
    "vmap_of_jacrev": lambda T, x: T.func.vmap(T.func.jacrev(lambda a: a**2))(x),
    "vmap_of_hessian": lambda T, x: T.func.vmap(T.func.hessian(cubes))(x),
    "jacrev_of_vmap": lambda T, x: T.func.jacrev(T.func.vmap(lambda a: a.prod()))(x),
    "functionalize": lambda T, x: T.func.functionalize(lambda a: a.clone().add_(1))(x),
}


@scenarios.each(**TRANSFORMS)
def transform(T, case):
    return caught(lambda: case(T, values(T, 2, 3)))


@scenarios
def outer_autograd(T):
    y, x = values(T, 3).requires_grad_(), values(T, 3, start=1.0)
    inner = T.func.grad(lambda a: (a**2 * y).sum())(x)
    inner.sum().backward()
    by_outer = T.func.grad(cubes)(y)
    jac = T.func.jacrev(lambda a: a**2)(y)
    with T.no_grad():
        quiet = T.func.grad(cubes)(y), T.func.grad(lambda a: (a * y).sum())(x)
    return inner, y.grad, by_outer.requires_grad, jac.requires_grad, quiet, T.func.vjp(double, y)[0].requires_grad


@scenarios
def functional_calls(T):
    T.manual_seed(0)
    net = T.nn.Sequential(T.nn.Linear(3, 2), T.nn.BatchNorm1d(2)).double().eval()
    params = {name: p.detach() * 2 for name, p in net.named_parameters()}
    buffers = {name: b.clone() for name, b in net.named_buffers()}
    call = T.func.functional_call
    x = values(T, 4, 3)
    before = net[0].weight.clone()
    out = call(net, (params, buffers), (x,))
    grads = T.func.grad(lambda p: (call(net, (p, buffers), x) * values(T, 4, 2)).exp().sum())(params)
    return [
        out,
        grads["0.weight"],
        grads["1.weight"],
        bool((net[0].weight == before).all()),
        caught(lambda: call(net, {"nothing": x}, (x,), strict=True)),
        caught(lambda: call(net, 3, (x,))),
        caught(lambda: call(net, (params, params), (x,))),
        caught(lambda: call(net, (params, 3), (x,))),
    ]


@scenarios
def ensembles(T):
    T.manual_seed(0)
    nets = [T.nn.Linear(3, 2).double() for _ in range(3)]
    params, buffers = T.func.stack_module_state(nets)
    x = values(T, 4, 3)
    base = nets[0]
    out = T.func.vmap(lambda p, b: T.func.functional_call(base, (p, b), (x,)))(params, buffers)
    other = [T.nn.Linear(3, 2), T.nn.ReLU()]
    mixed = [T.nn.Linear(3, 2), T.nn.Linear(3, 2).eval()]
    return [
        out,
        {name: (p.shape, p.requires_grad, p.is_leaf) for name, p in params.items()},
        buffers,
        caught(lambda: T.func.stack_module_state([])),
        caught(lambda: T.func.stack_module_state(other)),
        caught(lambda: T.func.stack_module_state(mixed)),
    ]


@scenarios
def batch_norm_replacement(T):
    net = T.nn.Sequential(T.nn.BatchNorm1d(2), T.nn.Sequential(T.nn.BatchNorm2d(3)))
    same = T.func.replace_all_batch_norm_modules_(net) is net
    return same, net[0].running_mean, net[1][0].track_running_stats


@scenarios
def names(T):
    return [
        T.vmap is T.func.vmap,
        T.func.grad.__module__,
        T.func.vmap.__module__,
        T.func.grad(cubes).__name__,
        sorted(
            name
            for name in (
                "grad",
                "vjp",
                "jvp",
                "jacrev",
                "jacfwd",
                "hessian",
                "vmap",
                "linearize",
                "functional_call",
                "functionalize",
                "stack_module_state",
                "grad_and_value",
                "replace_all_batch_norm_modules_",
                "debug_unwrap",
            )
            if hasattr(T.func, name)
        ),
    ]
