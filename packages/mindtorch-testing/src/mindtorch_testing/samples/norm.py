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


@sample("_masked_softmax", dtypes=("float32", "float64"), gradient=False)
def masked_softmax(make: Maker) -> Iterator[Call]:
    """Masks of the three kinds, every dimension, everything masked, masks that do not fit.

    Contiguous ones only: torch pairs a transposed input with the mask in the order of memory. Without gradients, which torch
    gives only where the mask has the shape of the input.
    """
    yield Call(make(3, 4), make.mask(3, 4), 0, 2)
    yield Call(make(3, 4), make.mask(3, 4), -1, 2)
    scores = make(2, 3, 5, 5)
    yield Call(scores, make.mask(5, 5), None, 0)
    yield Call(scores, make.mask(2, 5), -1, 1)
    yield Call(make(2, 2), make.of(((1.0, 1.0), (0.0, 1.0)), "bool"), 1, 2)
    yield Wrong(scores, make(5, 5), -1, 0)
    yield Wrong(scores, make.mask(5, 5), -1)
    yield Wrong(scores, make.mask(2, 5), -1, 0)
    yield Wrong(scores, make.mask(5, 5), -1, 1)
    yield Wrong(scores, make.mask(5, 5), -1, 2)
