"""Samples of tensor factories."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import EVERY, Call, Wrong, sample


@sample("zeros_like", "ones_like", dtypes=EVERY, gradient=False)
def like(make: Maker) -> Iterator[Call]:
    """Strides are kept where memory is dense, not otherwise."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor)
    yield Call(make(3, 4), dtype=make.type("float64"))
    yield Call(make())


@sample("full_like", dtypes=EVERY, gradient=False)
def full_like(make: Maker) -> Iterator[Call]:
    """Any layout."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, 1)


@sample("arange.start_step", dtypes=("float32",), gradient=False)
def arange(make: Maker) -> Iterator[Call]:
    """Ints, floats, negative steps, nothing, and steps that lead nowhere."""
    yield Call(0, 10, 3)
    yield Call(5, 0, -2)
    yield Call(0.0, 1.0, 0.1)
    yield Call(3, 3, 1)
    yield Call(0, 4, 1, dtype=make.type("float64"))
    yield Wrong(0, 5, -1)
    yield Wrong(0, 5, 0)
