"""Operators of programs under `vmap`, against torch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same_results, caught

scenarios = Scenarios()
_names = itertools.count()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def batch(T: Any) -> Any:
    return T.arange(6.0).reshape(2, 3)


def scaled(T: Any) -> Any:
    """Return a fresh operator x * n."""

    def function(x, n=2):
        return x * n

    function.__annotations__ = {"x": T.Tensor, "n": int, "return": T.Tensor}
    return T.library.custom_op(f"vmapped{T.__name__}::scaled{next(_names)}", mutates_args=())(function)


def pair(T: Any) -> Any:
    """Return a fresh operator x * y, x + y."""

    def function(x, y):
        return x * y, x + y

    function.__annotations__ = {"x": T.Tensor, "y": T.Tensor, "return": tuple[T.Tensor, T.Tensor]}
    return T.library.custom_op(f"vmapped{T.__name__}::pair{next(_names)}", mutates_args=())(function)


@scenarios
def without_a_rule(T):
    return T.func.vmap(scaled(T))(batch(T)), T.func.vmap(pair(T), in_dims=(0, None))(batch(T), batch(T)[0])


@scenarios
def with_a_rule(T):
    op, seen = scaled(T), []

    @op.register_vmap
    def rule(info, in_dims, x, n=2):
        seen.append((info.batch_size, info.randomness, in_dims, tuple(x.shape), n))
        return op(x, n) * 10, in_dims[0]

    results = [
        T.func.vmap(op, in_dims=1)(batch(T)),
        T.func.vmap(lambda x: op(x, n=3), in_dims=1, randomness="same")(batch(T)),
        T.func.vmap(T.func.vmap(op))(batch(T)),
    ]
    return results, seen, op(batch(T))


@scenarios
def with_a_rule_of_lists(T):
    """A list has a list of places; lists come as lists and numbers as the signature says."""

    def function(xs, sizes, y=None, scale=1.0, *, n=2):
        return sum(xs) * scale

    tensor = T.Tensor
    function.__annotations__ = {
        "xs": Sequence[tensor], "sizes": Sequence[int], "y": tensor | None, "scale": float, "n": int, "return": tensor,
    }  # fmt: skip
    op, seen = T.library.custom_op(f"vmapped{T.__name__}::lists{next(_names)}", mutates_args=())(function), []

    @op.register_vmap
    def rule(info, in_dims, xs, sizes, y=None, scale=1.0, *, n=2):
        seen.append((in_dims, type(xs), sizes, y is None, scale, type(scale), n))
        return op(
            [x if dim == 0 else x.expand(info.batch_size, *x.shape) for x, dim in zip(xs, in_dims[0], strict=True)],
            sizes,
        ), 0

    results = [
        T.func.vmap(lambda x: op([x, x * 2], (1, 2)))(batch(T)),
        T.func.vmap(lambda x: op([x, T.ones(())], (), x, n=3))(T.ones(3)),
        T.func.vmap(lambda x: op((x, x), [4], scale=2))(batch(T)),
    ]
    return results, seen


@scenarios
def a_rule_by_name(T):
    op = pair(T)
    T.library.register_vmap(
        op._qualname, lambda info, in_dims, x, y: (op(x, y if in_dims[1] == 0 else y[None]), (0, 0))
    )
    return T.func.vmap(op, in_dims=(0, None))(batch(T), batch(T)[0]), T.func.vmap(op)(batch(T), batch(T))


ANSWERS = {
    "one_result": lambda x, y: x,
    "one_dim": lambda x, y: ((x, y), 0),
    "three_dims": lambda x, y: ((x, y), (0, 0, 0)),
    "nothing_batched": lambda x, y: ((x[0] + 0, y), (None, 0)),
}


@scenarios.each(**ANSWERS)
def answers_of_rules(T: Any, case: Any) -> Any:
    op = pair(T)
    op.register_vmap(lambda info, in_dims, x, y: case(x, y))
    return T.func.vmap(op)(batch(T), batch(T))


@scenarios
def names_of_operators(T):
    rule = lambda info, in_dims, x: (x, 0)  # noqa: E731
    return [caught(lambda name=name: T.library.register_vmap(name, rule)) for name in ("nowhere::nothing", 3)]


@scenarios
def with_a_backward(T):
    def function(x):
        return x * x

    function.__annotations__ = {"x": T.Tensor, "return": T.Tensor}
    op = T.library.custom_op(f"vmapped{T.__name__}::square{next(_names)}", mutates_args=())(function)
    op.register_autograd(
        lambda ctx, grad: grad * 2 * ctx.saved_tensors[0],
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x = batch(T).requires_grad_()
    before = [T.func.vmap(op)(batch(T)), T.autograd.grad(T.func.vmap(op)(x).sum(), x)]
    op.register_vmap(lambda info, dims, x: (op(x), dims[0]))
    return [
        before,
        T.autograd.grad(T.func.vmap(op)(x).sum(), x),
        caught(lambda: T.func.grad(lambda x: op(x).sum())(batch(T))),
        caught(lambda: T.func.vmap(T.func.grad(lambda x: op(x).sum()))(batch(T))),
        caught(lambda: T.func.grad(lambda x: T.func.vmap(op)(x).sum())(batch(T))),
    ]


@scenarios
def that_write(T):
    def function(x):
        x.add_(1)

    function.__annotations__ = {"x": T.Tensor, "return": None}
    op = T.library.custom_op("vmapped::writing", mutates_args=("x",))(function)
    return T.func.vmap(lambda x: (op(x), x)[1])(batch(T))


@scenarios
def batched_gradients_of_a_convolution_without_channels(T):
    x, weight, bias = (T.ones(*shape, requires_grad=True) for shape in ((2, 0, 7), (6, 0, 3), (6,)))
    result = T.ops.aten.convolution(x, weight, bias, [1], [0], [1], False, [0], 1)
    return T.autograd.grad(result, (x, weight, bias), T.ones(3, *result.shape), is_grads_batched=True)


@scenarios
def same_function_at_the_top(T):
    return T.vmap(lambda x: x.sum())(batch(T))


_DTYPES = ("float16", "float32", "int32", "int64", "uint8", "bool", "complex64")


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "pow", "maximum", "eq", "copysign", "heaviside", "complex"]
)
@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_a_number_of_the_batch_and_a_whole_one_weigh_alike_in_type_promotion(name: str) -> None:
    torch = pytest.importorskip("torch", reason="oracle")

    def answers(T: Any) -> list[Any]:
        found = []
        for first, second in itertools.product(_DTYPES, _DTYPES):
            batched, whole = T.ones(3, dtype=getattr(T, first)), T.ones((), dtype=getattr(T, second))
            for operands, dims in (((batched, whole), (0, None)), ((whole, batched), (None, 0))):
                try:
                    result = T.vmap(getattr(T, name), dims)(*operands)
                    found.append((first, second, dims, str(result.dtype), result.tolist()))
                except (RuntimeError, NotImplementedError) as error:
                    found.append((first, second, dims, type(error).__name__))
        return found

    assert answers(mt) == answers(torch)
