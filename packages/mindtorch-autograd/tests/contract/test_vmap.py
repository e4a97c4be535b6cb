"""`vmap`: values, nesting with other transforms, randomness, writes, against torch."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch

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


def _mlp(T: Any, weights: Any, x: Any, y: Any) -> Any:
    first, bias, second = weights
    hidden = T.tanh(x @ first + bias)
    return T.nn.functional.mse_loss(hidden @ second, y)


def _weights(T: Any) -> Any:
    return values(T, 3, 4) * 0.1, values(T, 4) * 0.1, values(T, 4, 2) * 0.1


def _linear_model(T: Any) -> Any:
    T.manual_seed(3)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 2)).double()


def _per_sample(T: Any) -> Any:
    model = _linear_model(T)
    params = {name: one.detach() for name, one in model.named_parameters()}

    def loss(params: Any, x: Any, y: Any) -> Any:
        out = T.func.functional_call(model, params, (x,))
        return T.nn.functional.cross_entropy(out.unsqueeze(0), y.unsqueeze(0))

    return T.func.vmap(T.func.grad(loss), in_dims=(None, 0, 0))(params, values(T, 5, 3), T.tensor([0, 1, 1, 0, 1]))


def _ensemble(T: Any) -> Any:
    T.manual_seed(5)
    models = [T.nn.Linear(3, 2) for _ in range(3)]
    params, buffers = T.func.stack_module_state(models)
    base = T.nn.Linear(3, 2)
    run = lambda p, b, x: T.func.functional_call(base, (p, b), (x,))  # noqa: E731
    return T.func.vmap(run, in_dims=(0, 0, None))(params, buffers, T.ones(4, 3)).detach()


def _conv_samples(T: Any) -> Any:
    weight, x = values(T, 2, 3, 2, 2), values(T, 4, 3, 5, 5)
    loss = lambda w, x: T.nn.functional.conv2d(x.unsqueeze(0), w, padding=1).pow(2).sum()  # noqa: E731
    return T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(weight, x)


NESTED = {
    "grad_inside": lambda T, f: f.vmap(f.grad(lambda x: x.sin().sum()))(values(T, 2, 3)),
    "grad_inside_of_shared": lambda T, f: f.vmap(f.grad(lambda w, x: (w * x).sin().sum()), in_dims=(None, 0))(
        values(T, 3), values(T, 2, 3)
    ),
    "grad_inside_captures": lambda T, f: (lambda w: f.vmap(f.grad(lambda x: (w * x).sin().sum()))(values(T, 2, 3)))(
        values(T, 3)
    ),
    "grad_around": lambda T, f: f.grad(lambda w: f.vmap(lambda x: (x * w).exp())(values(T, 2, 3)).sum())(values(T, 3)),
    "grad_around_grad_inside": lambda T, f: f.grad(
        lambda w: f.vmap(f.grad(lambda x: ((x * w) ** 3).sum()))(values(T, 2, 3)).sum()
    )(values(T, 3)),
    "grad_of_grad_inside": lambda T, f: f.vmap(f.grad(f.grad(lambda x: x**4)))(values(T, 5)),
    "three_levels": lambda T, f: f.vmap(f.vmap(f.vmap(lambda x, y: x * y, (0, None)), (None, 0)), (0, None))(
        values(T, 2, 3), values(T, 4)
    ),
    "vjp_inside": lambda T, f: f.vmap(lambda x: f.vjp(T.sin, x)[1](T.ones(3, dtype=T.float64))[0])(values(T, 2, 3)),
    "vjp_function": lambda T, f: f.vmap(f.vjp(lambda x: x.pow(3), values(T, 3))[1])(T.eye(3, dtype=T.float64)),
    "jvp_inside": lambda T, f: f.vmap(lambda x, t: f.jvp(T.sin, (x,), (t,))[1])(values(T, 2, 3), values(T, 2, 3)),
    "jvp_around": lambda T, f: f.jvp(lambda x: f.vmap(T.sin)(x), (values(T, 2, 3),), (values(T, 2, 3),)),
    "jacrev_inside": lambda T, f: f.vmap(f.jacrev(lambda x: x.pow(2) * x.sum()))(values(T, 2, 3)),
    "jacfwd_inside": lambda T, f: f.vmap(f.jacfwd(lambda x: x.pow(2) * x.sum()))(values(T, 2, 3)),
    "hessian_inside": lambda T, f: f.vmap(f.hessian(lambda x: (x.prod() * x).sum()))(values(T, 2, 3)),
    "jacrev_around": lambda T, f: f.jacrev(lambda x: f.vmap(lambda r: r * r.sum())(x))(values(T, 2, 3)),
    "jacrev_chunks": lambda T, f: f.jacrev(lambda x: x.pow(2), chunk_size=2)(values(T, 5)),
    "jacrev_of_two": lambda T, f: f.jacrev(lambda a, b: a * b.sum(), argnums=(0, 1))(values(T, 3), values(T, 2)),
    "jacfwd_of_two": lambda T, f: f.jacfwd(lambda a, b: {"o": a * b.sum()}, argnums=(0, 1))(values(T, 3), values(T, 2)),
    "jacfwd_aux": lambda T, f: f.jacfwd(lambda a: (a.sin(), a * 2), has_aux=True)(values(T, 3)),
    "jacrev_aux": lambda T, f: f.jacrev(lambda a: (a.sin(), a * 2), has_aux=True)(values(T, 3)),
    "hessian": lambda T, f: f.hessian(lambda x: (x.sin() * x.sum()).sum())(values(T, 4)),
    "hessian_of_two": lambda T, f: f.hessian(lambda a, b: (a * b).sin().sum(), argnums=(0, 1))(
        values(T, 2), values(T, 2)
    ),
    "linearize": lambda T, f: (lambda pair: [pair[0], pair[1](values(T, 3)), f.vmap(pair[1])(values(T, 2, 3))])(
        f.linearize(lambda x: x.sin() * x.sum(), values(T, 3))
    ),
    "recorded_outside": lambda T, f: (lambda x: T.autograd.grad(f.vmap(lambda r: r.pow(3).sum())(x).sum(), x))(
        values(T, 2, 3).requires_grad_()
    ),
    "detach": lambda T, f: f.grad(lambda x: f.vmap(lambda y: (y.detach() * y).sum())(x).sum())(values(T, 2, 3)),
    "no_grad": lambda T, f: f.vmap(f.grad(lambda x: (x * _without(T, x)).sum()))(values(T, 2, 3)),
    "mlp": lambda T, f: f.vmap(f.grad(lambda w, x, y: _mlp(T, w, x, y)), in_dims=(None, 0, 0))(
        _weights(T), values(T, 5, 3), values(T, 5, 2)
    ),
    "mlp_hessian": lambda T, f: f.hessian(lambda x: _mlp(T, _weights(T), x, values(T, 2)))(values(T, 3)),
    "modules": lambda T, f: _per_sample(T),
    "ensemble": lambda T, f: _ensemble(T),
    "conv": lambda T, f: _conv_samples(T),
    "batched_gradients": lambda T, f: (
        lambda x: T.autograd.grad(x.pow(2) * x.sum(), x, T.eye(3, dtype=T.float64), is_grads_batched=True)
    )(values(T, 3).requires_grad_()),
    "prod_with_zero": lambda T, f: f.vmap(f.grad(lambda x: x.prod()))(T.tensor([[1.0, 0.0, 2.0], [3.0, 1.0, 2.0]])),
    "max_ties": lambda T, f: f.vmap(f.grad(lambda x: x.max()))(T.tensor([[1.0, 1.0, 0.0], [3.0, 1.0, 2.0]])),
}


def _without(T: Any, x: Any) -> Any:
    with T.no_grad():
        return x * 2


@scenarios.each(**NESTED)
def nested(T: Any, case: Any) -> Any:
    return case(T, T.func)


def _written(T: Any, change: Any) -> Any:
    x = values(T, 2, 3)

    def run(one: Any) -> Any:
        made = one.clone()
        change(T, made)
        return made

    return [T.func.vmap(run)(x), T.func.vmap(run, in_dims=1, out_dims=1)(x.t().contiguous().t())]


WRITES = {
    "add_": lambda T, x: x.add_(1),
    "mul_by_shared": lambda T, x: x.mul_(T.arange(3)),
    "into_view": lambda T, x: x[1:].mul_(10),
    "setitem": lambda T, x: x.__setitem__(0, x[1] * 5),
    "setitem_slice": lambda T, x: x.__setitem__(slice(1, None), 7.0),
    "index_put_": lambda T, x: x.index_put_((T.tensor([0, 1]),), T.tensor([9.0, 8.0], dtype=T.float64)),
    "masked_fill_": lambda T, x: x.masked_fill_(x > 1, 0.0),
    "cumsum_": lambda T, x: x.cumsum_(0),
    "scatter_": lambda T, x: x.scatter_(0, T.tensor([0]), x[1:2] * 3),
    "copy_": lambda T, x: x.copy_(T.ones(3)),
    "zero_": lambda T, x: x.zero_(),
    "unsqueeze_": lambda T, x: x.unsqueeze_(0).add_(1).squeeze_(0),
    "exp_of_select": lambda T, x: x.select(0, 1).exp_(),
}


@scenarios.each(**WRITES)
def writes(T: Any, case: Any) -> Any:
    return _written(T, case)


@scenarios
def writes_reach_the_batch(T):
    x = values(T, 2, 3)
    T.func.vmap(lambda one: one.mul_(2))(x)
    return x, x._version > 0


@scenarios
def gradients_through_writes(T):
    def run(x):
        made = x * 2
        made[0] = made[1].clone() * x[2]
        made.mul_(x)
        return made.sum()

    return T.func.vmap(T.func.grad(run))(values(T, 2, 3)), T.func.grad(lambda x: T.func.vmap(run)(x).sum())(
        values(T, 2, 3)
    )


TURNS = {
    "t_": lambda T, x: x.t_(),
    "squeeze_": lambda T, x: x[:1].clone().squeeze_(0),
    "unsqueeze_": lambda T, x: x.unsqueeze_(0),
    "transpose_": lambda T, x: x.transpose_(0, -1),
    "swapaxes_": lambda T, x: x.swapaxes_(0, 1),
    "of_view": lambda T, x: x[:2].t_().mul_(T.arange(6.0, dtype=T.float64).reshape(3, 2)),
    "second_output": lambda T, x: T.var_mean(x, 1)[1].unsqueeze_(0),
}


@scenarios.each(**TURNS)
def gradients_through_geometry_in_place(T: Any, case: Any) -> Any:
    def run(x):
        made = x * 2
        turned = case(T, made)
        weights = T.arange(float(turned.numel()), dtype=T.float64).reshape(turned.shape)
        return (turned.sin() * weights).sum() + (made * made).sum()

    x = values(T, 2, 3, 3)
    tangents = T.ones(3, 3, dtype=T.float64)
    return (
        T.func.vmap(T.func.grad(run))(x),
        T.func.grad(lambda x: T.func.vmap(run)(x).sum())(x),
        T.func.vmap(T.func.jacrev(run))(x),
        T.func.vmap(lambda one: T.func.jvp(run, (one,), (tangents,)))(x),
    )


RANDOM = {
    "randn_different": ("different", lambda T, x: x + T.randn(3)),
    "randn_same": ("same", lambda T, x: x + T.randn(3)),
    "rand_like_different": ("different", lambda T, x: T.rand_like(x)),
    "rand_like_same": ("same", lambda T, x: T.rand_like(x)),
    "randint": ("different", lambda T, x: T.randint(0, 9, (4,))),
    "normal_in_place": ("different", lambda T, x: x.clone().normal_()),
    "normal_in_place_same": ("same", lambda T, x: x.clone().normal_()),
    "shared_in_place_same": ("same", lambda T, x: T.zeros(3).uniform_() + x),
    "bernoulli": ("different", lambda T, x: T.bernoulli((x - 0.5) / 3)),
    "dropout": ("different", lambda T, x: T.nn.functional.dropout(x, 0.5)),
    "dropout_same": ("same", lambda T, x: T.nn.functional.dropout(x, 0.5)),
    "randperm": ("different", lambda T, x: T.randperm(5)),
    "multinomial": ("different", lambda T, x: T.multinomial(x, 2)),
    "nothing_batched": ("different", lambda T, x: T.rand(2)),
    "two_draws": ("different", lambda T, x: T.rand(2) + T.randn(2)),
}


@scenarios.each(**RANDOM)
def randomness(T: Any, case: Any) -> Any:
    kind, run = case
    T.manual_seed(11)
    return T.func.vmap(lambda x: run(T, x), randomness=kind)(values(T, 2, 3))


@scenarios
def randomness_in_chunks(T):
    T.manual_seed(2)
    run = lambda x: x + T.rand(3)  # noqa: E731
    x = values(T, 4, 3)
    return [T.func.vmap(run, randomness=kind, chunk_size=2)(x) for kind in ("same", "different")]


@scenarios
def randomness_of_columns(T):
    run = lambda x: x * T.rand(3, dtype=T.float64)  # noqa: E731
    T.manual_seed(2)
    return [T.func.jacfwd(run, randomness=kind)(values(T, 3)) for kind in ("same", "different")]


LOOKS = {
    "shape": lambda T, x: (x.shape, x.dim(), x.numel(), x.size(0), x.stride(), x.is_contiguous(), str(x.dtype)),
    "grad_flags": lambda T, x: (x.requires_grad, x.is_leaf, x.grad_fn is None),
    "repr": lambda T, x: repr(x),
    "instance": lambda T, x: (isinstance(x, T.Tensor), len(x), x.device.type, x.is_floating_point()),
    "iterate": lambda T, x: [one.shape for one in x],
}


@scenarios.each(**LOOKS)
def looks(T: Any, case: Any) -> Any:
    seen = []
    T.func.vmap(lambda x: (seen.append(case(T, x)), x)[1], in_dims=1)(values(T, 3, 2))
    return seen


@scenarios
def promotion_of_single_numbers(T):
    x, y = T.ones(3, dtype=T.float32), T.ones(2, dtype=T.float32)
    run = lambda one: (one * y, one + T.ones(2, dtype=T.int64), T.add(y, one, alpha=2))  # noqa: E731
    wide = T.func.vmap(run)(x.double())
    return T.func.vmap(run)(x), wide


@scenarios
def empty_batches(T):
    x = T.ones(0, 3)
    run = lambda r: (r.sum(), r.softmax(0), r @ T.ones(3, 2), r[:2], T.linalg.inv(r.diag_embed()))  # noqa: E731
    return T.func.vmap(run)(x), caught(lambda: T.func.vmap(lambda r: T.histc(r, 4))(x))


def test_a_function_is_described_in_errors_alone() -> None:
    class Doubled:
        def __call__(self, x: Any) -> Any:
            return x * 2

        def __repr__(self) -> str:
            raise AssertionError("nothing is to be said of it")

    assert mindtorch.func.vmap(Doubled())(mindtorch.arange(3)).tolist() == [0, 2, 4]
