"""Samples of losses."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import Call, Wrong, sample

REDUCTIONS = (0, 1, 2)


@sample("cross_entropy_loss", dtypes=("float32", "float64"))
def cross_entropy(make: Maker) -> Iterator[Call]:
    """Reductions, ignored labels, smoothing, probabilities as targets."""
    labels = make.indices(5, below=3)
    for reduction in REDUCTIONS:
        yield Call(make(5, 3), labels, None, reduction)
    yield Call(make(4, 3), make.of((0, -100, 2, -100), "int64"), None, 1, -100)
    yield Call(make(5, 3), labels, None, 1, -100, 0.1)
    yield Call(make(2, 3, 4), make.indices(2, 4, below=3))
    yield Call(make(5, 3), make(5, 3, low=0.0))
    yield Wrong(make(5, 3), make.indices(4, below=3))
    yield Wrong(make(2, 3), make.of((0, 3), "int64"))


@sample("cross_entropy_loss", dtypes=("float32", "float64"), gradient=False)
def weighted_cross_entropy(make: Maker) -> Iterator[Call]:
    """Class weights, which take no gradient."""
    labels = make.indices(5, below=3)
    for reduction in REDUCTIONS:
        yield Call(make(5, 3), labels, make(3, low=0.1), reduction)
    yield Wrong(make(5, 3), labels, make(2))


@sample("mse_loss", dtypes=("float32", "float64"))
def mse(make: Maker) -> Iterator[Call]:
    """Reductions; nothing to compare."""
    for reduction in REDUCTIONS:
        yield Call(make(3, 4), make.transposed(3, 4), reduction)
    yield Call(make(0), make(0))


@sample("binary_cross_entropy_with_logits", dtypes=("float32", "float64"))
def binary_cross_entropy(make: Maker) -> Iterator[Call]:
    """Reductions, large logits."""
    for reduction in REDUCTIONS:
        yield Call(make(3, 4), make(3, 4, low=0.0, high=1.0), None, None, reduction)
    yield Call(make.of((1000.0, -1000.0)), make.of((1.0, 1.0)))


@sample("binary_cross_entropy_with_logits", dtypes=("float32", "float64"), gradient=False)
def weighted_binary_cross_entropy(make: Maker) -> Iterator[Call]:
    """Weights of elements and of positives, which take no gradient."""
    for reduction in REDUCTIONS:
        targets = make(3, 4, low=0.0, high=1.0)
        yield Call(make(3, 4), targets, make(4, low=0.1), make(4, low=0.1), reduction)
