"""Samples of softmax and normalisation."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import Call, Wrong, sample


@sample("softmax.int", "log_softmax.int")
def softmax(make: Maker) -> Iterator[Call]:
    """Every dimension of every layout, large values, a fully masked row, a result dtype."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, 0)
        yield Call(tensor, -1)
    yield Call(make(), 0)
    yield Call(make(0, 3), 1)
    yield Call(make.of(((1000.0, 999.0), (-1000.0, 3.0))), 1)
    yield Call(make.of(((float("-inf"), float("-inf")), (0.0, float("-inf")))), 1)
    yield Call(make(2, 3), 1, dtype=make.type("float64"))
    yield Wrong(make(3), 1)


@sample("layer_norm")
def layer_norm(make: Maker) -> Iterator[Call]:
    """With and without weight and bias, over one and two dimensions."""
    yield Call(make(2, 3, 4), [4], make(4), make(4))
    yield Call(make(2, 3, 4), [3, 4])
    yield Call(make.transposed(3, 4), [4], make(4), None, 1e-3)
    yield Call(make(0, 4), [4], make(4), make(4))
    yield Wrong(make(2, 3), [4])
    yield Wrong(make(2, 3), [3], make(4))
