"""`torch.func.functionalize`: results and inputs as torch leaves them, and no write in between."""

from __future__ import annotations

from typing import Any

import pytest

from .scenarios import assert_same, caught, logging_mode, plain


def clone_and_add(T, x):
    y = x.clone()
    y.add_(1)
    return y


def write_through_view(T, x):
    x.view(-1).mul_(2)
    return x


def write_input(T, x):
    x.add_(1)
    return x


def views_of_views(T, x):
    v = x.t()
    v[0].add_(1)
    return v, x


def a_part(T, x):
    a, b = x.split(1)
    a.add_(b)
    return x, a, b


def parts(T, x):
    rows = x.unbind(0)
    rows[1].mul_(10)
    x.chunk(2, 1)[0].sub_(1)
    return x, rows


def out(T, x):
    return T.add(x, x, out=T.empty(2, 3))


def outs(T, x):
    made = (T.empty(2), T.empty(2, dtype=T.long))
    T.max(x, 1, out=made)
    return made


def factory(T, x):
    y = T.zeros(2, 3)
    y[0].copy_(x[0])
    y[1] = 5
    return y + x


def diagonal(T, x):
    y = x.clone()
    y.diagonal().zero_()
    return y


def geometry(T, x):
    y = x.clone()
    y.t_()
    y.unsqueeze_(0)
    y.transpose_(1, 2)
    y.mul_(2)
    y.squeeze_()
    return y, y.stride()


def in_place_activation(T, x):
    return T.nn.functional.relu(x, inplace=True), x


def indices(T, x):
    x[x > 2] = -1
    x[0, [0, 1]] = 7
    x[:, 2] += 1
    return x


def dtype_is_kept(T, x):
    y = T.ones(2, 3, dtype=T.float32)
    y.add_(x.double())
    z = T.ones(2, 3, dtype=T.int64)
    z.mul_(3)
    return y, z


def random_draws(T, x):
    T.manual_seed(3)
    return x.uniform_().clone(), x.bernoulli_(0.5).clone(), x.normal_(2.0, 0.5).clone(), x.exponential_()


def dropout(T, x):
    T.manual_seed(5)
    return T.nn.functional.dropout(x, 0.5)


def several_at_once(T, x):
    first, second = x.clone(), x.clone()
    T._foreach_add_([first, second], 2)
    T._foreach_mul_([first, second], [2.0, 3.0])
    return first, second


def momentum_step(T, x):
    velocity = T.zeros(2, 3)
    velocity.mul_(0.9).add_(x)
    x.add_(velocity, alpha=-0.1)
    return x, velocity


def detached(T, x):
    y = x.detach()
    y.add_(1)
    return y


def reads(T, x):
    x.add_(1)
    return x.sum().item(), bool((x > 0).any()), float(x[0, 0]), x.shape


def strided(T, x):
    x.as_strided((2, 2), (3, 1)).fill_(9)
    return x


def complex_parts(T, x):
    z = T.view_as_complex(x.reshape(-1, 2).contiguous())
    z.mul_(2)
    T.view_as_real(z)[0].zero_()
    return z


def filled(T, x):
    x.fill_(3)
    x[0].zero_()
    return x


PROGRAMS = [
    clone_and_add, write_through_view, write_input, views_of_views, a_part, parts, out, outs, factory, diagonal, geometry,
    in_place_activation, indices, dtype_is_kept, random_draws, dropout, several_at_once, momentum_step, detached, reads,
    strided, complex_parts, filled,
]  # fmt: skip

REMOVE = ("mutations", "mutations_and_views")


def start(T: Any) -> Any:
    return T.arange(6.0).reshape(2, 3).clone()


@pytest.mark.parametrize("remove", REMOVE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_and_inputs_are_torchs(program, remove):
    def scenario(T):
        x = start(T)
        made = T.func.functionalize(lambda x: program(T, x), remove=remove)(x)
        return plain(made), plain(x)

    assert_same(scenario)


@pytest.mark.parametrize("remove", REMOVE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_the_program_itself(program, remove):
    import mindtorch as mt

    one, other = start(mt), start(mt)
    made = mt.func.functionalize(lambda x: program(mt, x), remove=remove)(one)
    assert plain(made) == plain(program(mt, other))
    assert plain(one) == plain(other)


@pytest.mark.parametrize("remove", REMOVE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_is_written_before_the_end(program, remove):
    import mindtorch as mt

    x = start(mt)
    mode = logging_mode(mt)
    with mode:
        mt.func.functionalize(lambda x: program(mt, x), remove=remove)(x)
    while mode.log and mode.log[-1] == "aten.copy_.default":
        mode.log.pop()  # what the program wrote to its inputs
    written = [name for name in mode.log if name.split(".")[1].endswith("_") or name.endswith("out")]
    assert written == []


@pytest.mark.parametrize("remove", REMOVE)
@pytest.mark.parametrize(
    "program",
    [clone_and_add, write_input, out, in_place_activation, lambda T, x: x.t()[0].unsqueeze(0) + 1],
    ids=["clone_and_add", "write_input", "out", "in_place_activation", "views"],
)
def test_the_same_operators_run_as_in_torch(program, remove):
    def scenario(T):
        x, mode = start(T), logging_mode(T)
        with mode:
            T.func.functionalize(lambda x: program(T, x), remove=remove)(x)
        return mode.log

    assert_same(scenario)


def test_what_has_only_a_writing_form_writes_a_copy():
    import mindtorch as mt

    x = mt.zeros(2, 2)
    made, seen = mt.func.functionalize(lambda x: (x.fill_diagonal_(5), x[0]))(x)
    assert (made.tolist(), seen.tolist(), x.tolist()) == (
        [[5.0, 0.0], [0.0, 5.0]],
        [5.0, 0.0],
        [[5.0, 0.0], [0.0, 5.0]],
    )


def test_values_can_be_read_on_the_way():
    import mindtorch as mt

    assert mt.func.functionalize(lambda x: (x.add_(1).tolist(), float(x.numpy().sum())))(mt.ones(2)) == (
        [2.0, 2.0],
        4.0,
    )


@pytest.mark.parametrize(
    "build",
    [
        lambda T, f: T.func.grad(T.func.functionalize(f)),
        lambda T, f: T.func.functionalize(T.func.grad(f)),
        lambda T, f: lambda x: T.func.vjp(T.func.functionalize(f), x)[1](T.tensor(2.0))[0],
    ],
    ids=["grad_of", "of_grad", "vjp_of"],
)
def test_transforms_compose(build):
    def scenario(T):
        def f(x):
            y = x.clone()
            y[0].mul_(2)
            y.add_(x)
            y.view(-1)[1:3].sin_()
            return y.sum()

        return build(T, f)(start(T))

    assert_same(scenario)


def test_gradients_flow_to_what_was_passed_and_what_was_closed_over():
    def scenario(T):
        T.manual_seed(0)
        weight = T.ones(3, requires_grad=True)
        x = start(T).requires_grad_()
        made = T.func.functionalize(lambda x: (x * weight).add_(1).relu_())(x)
        made.sum().backward()
        return made.grad_fn.name(), weight.grad, x.grad

    assert_same(scenario)


@pytest.mark.parametrize("case", ["invalid", "identity", "expanded", "nested_containers"])
def test_the_rest_as_torch(case):
    def scenario(T):
        functionalize = T.func.functionalize
        if case == "invalid":
            return caught(lambda: functionalize(lambda x: x, remove="views"))
        if case == "identity":
            x = T.ones(2)
            return functionalize(lambda x: x)(x) is x
        if case == "expanded":
            return caught(lambda: functionalize(lambda x: x.expand(2, 2, 3).sum())(start(T)))
        given = {"x": T.ones(2), "rest": [T.zeros(2), 3]}
        made = functionalize(lambda d: {"a": d["x"].add_(1), "b": (d["rest"][0].sub_(1),), "n": d["rest"][1]})(given)
        return plain(made), plain(given)

    assert_same(scenario)


def test_a_tensor_from_outside_is_not_written_with_what_comes_from_an_input():
    import mindtorch as mt

    outside = mt.ones(2)
    with pytest.raises(RuntimeError, match="mutating a non-functional tensor with a functional tensor is not allowed"):
        mt.func.functionalize(lambda x: outside.add_(x))(mt.ones(2))
    assert outside.tolist() == [1.0, 1.0]


def test_two_views_of_one_memory_see_each_others_writes():
    def scenario(T):
        def program(x):
            rows, columns = x[0], x[:, 0]
            rows.add_(10)
            columns.mul_(2)
            return rows, columns, x

        x = start(T)
        return plain(T.func.functionalize(program)(x)), plain(x)

    assert_same(scenario)
