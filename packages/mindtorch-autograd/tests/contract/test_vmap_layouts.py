"""`vmap` over other dimensions than the first one and inside of itself, against torch."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same_results, caught

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario: Any) -> None:
    assert_same_results(scenario)


def cube(T: Any) -> Any:
    return (T.arange(24.0).reshape(2, 3, 4) / 8).sin()


@scenarios
def products_of_matrices_along_the_last_dimension(T):
    right, added = T.arange(6.0).reshape(3, 2), T.arange(2.0)
    found = [
        T.func.vmap(lambda left: left @ right, in_dims=2)(cube(T)),
        T.func.vmap(lambda left: T.addmm(added, left, right), in_dims=-1)(cube(T)),
        T.func.vmap(lambda left: T.nn.functional.linear(left, right.T, added), in_dims=-1, out_dims=1)(cube(T)),
        T.func.vmap(T.func.grad(lambda left: T.addmm(added, left, right).pow(2).sum()), in_dims=-1)(cube(T)),
    ]
    return [one.tolist() for one in found]


@scenarios
def a_product_of_kronecker_along_the_last_dimension(T):
    return T.func.vmap(T.kron, in_dims=(None, -1))(T.ones(2, 2), cube(T)).shape


@scenarios.each(
    svdvals="linalg.svdvals", eigvalsh="linalg.eigvalsh", nuclear="linalg.matrix_norm", log="nn.functional.logsigmoid"
)
def operators_with_parts_that_nobody_asks_for(T, name):
    function = T
    for part in name.split("."):
        function = getattr(function, part)
    options = {"ord": "nuc"} if name.endswith("matrix_norm") else {}
    given = (T.arange(32.0).reshape(2, 4, 2, 2) / 5).cos()
    given = given + given.transpose(-1, -2)
    nested = T.func.vmap(T.func.vmap(lambda one: function(one, **options)))
    found = [nested(given) for _ in range(2)]  # the second call finds what the first one learned
    expected = function(given, **options)
    return [tuple(one.shape) for one in found], [bool((one - expected).abs().max() < 1e-5) for one in found]


@scenarios.each(feature_dropout="feature_dropout", feature_alpha_dropout="feature_alpha_dropout")
def whole_channels_are_dropped_in_each_example(T, name):
    T.manual_seed(0)
    drop = T.func.vmap(lambda one: getattr(T, name)(one, 0.5, True), randomness="different")
    return drop(T.ones(4, 2, 3, 3)).tolist()


@scenarios
def one_bad_target_for_all_examples(T):
    loss = T.func.vmap(T.nn.functional.binary_cross_entropy, in_dims=(None, 0))
    return caught(lambda: loss(T.ones(5) / 2, T.full((3, 5), 2.0)))


@scenarios
def second_derivatives_of_determinants(T):
    matrix = T.tensor([[2.0, 1.0, 0.0], [1.0, -3.0, 1.0], [0.5, 1.0, 4.0]], dtype=T.float64)
    square = lambda one: T.linalg.det(one) ** 2  # noqa: E731
    found = T.func.hessian(square)(matrix), T.autograd.functional.hessian(square, matrix)
    return [[round(number, 6) + 0.0 for number in one.flatten().tolist()] for one in found]


@scenarios
def windows_of_a_number(T):
    number = T.tensor(2.0)
    return T.func.jacrev(lambda one: one.unfold(0, 1, 1))(number), T.func.jacrev(
        lambda one: T.unfold_copy(one, 0, 1, 1)
    )(number)


def test_second_derivatives_of_products_that_are_gathered():
    index = mt.tensor([0, 0, 1, 1])

    def square(factors):
        return (mt.ones(2).scatter_reduce(0, index, factors, "prod") ** 2).sum()

    factors = mt.tensor([2.0, 3.0, 4.0, 5.0], dtype=mt.float64)
    found = mt.func.hessian(square)(factors.float())
    expected = mt.autograd.functional.hessian(lambda x: (x[0] * x[1]) ** 2 + (x[2] * x[3]) ** 2, factors)
    assert mt.allclose(found, expected.float())


def test_second_derivatives_of_many_determinants():
    """Torch 2.13 gives other numbers for them than for each matrix alone."""

    def square(one):
        return mt.linalg.det(one) ** 2

    matrices = mt.tensor([[[2.0, 1.0], [1.0, -3.0]], [[4.0, 0.5], [0.0, 1.0]], [[0.0, 1.0], [2.0, 5.0]]])
    found = mt.func.vmap(mt.func.hessian(square))(matrices)
    assert mt.allclose(found, mt.stack([mt.func.hessian(square)(one) for one in matrices]))
