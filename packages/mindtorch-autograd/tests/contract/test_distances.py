"""Distances between the rows of two matrices: which way computes them shows in the nodes, the digits and the gradients."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

from .sides import Scenarios, assert_same  # noqa: E402

scenarios = Scenarios()
MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def numbers(T, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return ((T.arange(count, dtype=T.float64) * 37 % 101 - 50.0) / 10).reshape(shape).requires_grad_()


@scenarios.each(
    few=((25, 4), (25, 4)),
    many=((26, 4), (3, 4)),
    many_others=((3, 4), (26, 4)),
    batches=((2, 1, 30, 4), (3, 26, 4)),
    no_columns=((30, 0), (28, 0)),
    no_rows=((0, 4), (30, 4)),
)
def distances(T, shapes):
    found = []
    for mode in MODES:
        x, y = (numbers(T, *shape) for shape in shapes)
        result = T.cdist(x, y + 0.25, 2.0, mode)
        (result * result).sum().backward()
        by_product = type(result.grad_fn).__name__ == "ViewBackward0"
        found.append((by_product, result.stride(), result, x.grad.add(0.0), y.grad.add(0.0)))
    return found


@scenarios
def coinciding_rows(T):
    x = numbers(T, 30, 3)
    result = T.cdist(x, x)
    result.sum().backward()
    result.add_(1)
    return result.diagonal() >= 1, T.isfinite(x.grad).all()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)
