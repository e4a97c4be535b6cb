"""Samples of reductions."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import ARITHMETIC, EVERY, Call, Wrong, sample


@sample("sum.dim_IntList", "mean.dim")
def along_dims(make: Maker) -> Iterator[Call]:
    """One, several, negative and no dimensions; nothing to reduce; a result dtype."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, [0])
        yield Call(tensor, [-1], True)
    yield Call(make(2, 3, 4), [0, 2])
    yield Call(make(2, 3), [])
    yield Call(make(0, 3), [0])
    yield Call(make(), [0])
    yield Call(make(2, 3), [1], dtype=make.type("float64"))
    yield Wrong(make(2, 3), [2])
    yield Wrong(make(2, 3), [1, 1])


@sample("amax", "amin", dtypes=ARITHMETIC)
def extreme_values(make: Maker) -> Iterator[Call]:
    """Ties, nan, dimensions."""
    yield Call(make(3, 4), [0])
    yield Call(make.transposed(3, 4), [-1], True)
    yield Call(make.of((2, 2, 1)), [0])
    yield Call(make.extremes(), [0])
    yield Wrong(make(0, 3), [0])


@sample("max.dim", "min.dim", dtypes=ARITHMETIC)
def extreme_with_index(make: Maker) -> Iterator[Call]:
    """The first of equal values, nan, no elements."""
    yield Call(make(3, 4), 1)
    yield Call(make.of(((2, 2, 1), (0, 3, 3))), 1, True)
    yield Call(make.extremes(), 0)
    yield Call(make(), 0)
    yield Wrong(make(3, 0), 1)
    yield Wrong(make(3), 1)


@sample("argmax", "argmin", dtypes=ARITHMETIC, gradient=False)
def index_of_extreme(make: Maker) -> Iterator[Call]:
    """Over everything and along a dimension."""
    yield Call(make(3, 4))
    yield Call(make.transposed(3, 4), 0)
    yield Call(make(3, 4), -1, True)
    yield Wrong(make(0))


@sample("any", "all", dtypes=EVERY, gradient=False)
def truth(make: Maker) -> Iterator[Call]:
    """Nothing at all, and something."""
    yield Call(make(3, 4))
    yield Call(make(0))
    yield Call(make())


@sample("cumsum", dtypes=ARITHMETIC)
def running_sum(make: Maker) -> Iterator[Call]:
    """Every dimension of every layout."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, 0)
        yield Call(tensor, -1)
    yield Call(make(), 0)
    yield Call(make(0, 2), 0)
    yield Wrong(make(3), 1)


@sample("std.correction", "var.correction")
def spread(make: Maker) -> Iterator[Call]:
    """With and without correction."""
    yield Call(make(3, 4))
    yield Call(make(3, 4), [1], correction=0)
    yield Call(make.transposed(3, 4), [0], correction=2, keepdim=True)


@sample("logsumexp")
def logsumexp(make: Maker) -> Iterator[Call]:
    """Large values and minus infinity."""
    yield Call(make(3, 4), [1])
    yield Call(make.of(((1000.0, 1000.0), (-1000.0, 0.0))), [1], True)
    yield Call(make.of((float("-inf"), float("-inf"))), [0])
