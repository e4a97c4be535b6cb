"""Samples of pointwise ops."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import ARITHMETIC, EVERY, FLOATS, INTEGERS, Call, Wrong, sample

UNARY = ("abs", "neg", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "sigmoid", "relu", "reciprocal", "erf")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@sample(*UNARY)
def unary(make: Maker) -> Iterator[Call]:
    """Every layout, no elements, one element, and the values where functions end."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor)
    yield Call(make())
    yield Call(make(0, 3))
    yield Call(make.extremes())


@sample("add.Tensor", "sub.Tensor", dtypes=ARITHMETIC)
def sum_of_two(make: Maker) -> Iterator[Call]:
    """Broadcasting both ways, mixed dtypes, and alpha."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, make(4))
    yield Call(make(3, 1), make(1, 4), alpha=2)
    yield Call(make(), make(2, 0))
    yield Call(make(2, 3), make(dtype="float64"))
    yield Call(make.extremes(), make.extremes().flip(0))
    yield Wrong(make(3), make(4))
    yield Wrong(make(2, 3), make(2))


@sample("mul.Tensor", dtypes=EVERY)
def product(make: Maker) -> Iterator[Call]:
    """Broadcasting and promotion."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, make(3, 1))
    yield Call(make(2, 3), make(3, dtype="int32"))
    yield Call(make.extremes(), make.extremes().flip(0))
    yield Wrong(make(3), make(4))


@sample("div.Tensor", dtypes=(*FLOATS, *INTEGERS))
def quotient(make: Maker) -> Iterator[Call]:
    """True division makes integers floats; zero divides."""
    yield Call(make(3, 4), make(4, low=1.0))
    yield Call(make.extremes(), make.extremes().flip(0))
    yield Call(make(2), make(dtype="int64", low=2.0))


@sample("div.Tensor_mode", dtypes=(*FLOATS, *INTEGERS))
def rounded_quotient(make: Maker) -> Iterator[Call]:
    """Both rounding modes with both signs."""
    for mode in ("floor", "trunc"):
        yield Call(make.of((7, -7, 7, -7)), make.of((2, 2, -2, -2)), rounding_mode=mode)
    yield Wrong(make(2), make(2, low=1.0), rounding_mode="up")


@sample("pow.Tensor_Scalar")
def power(make: Maker) -> Iterator[Call]:
    """Whole, fractional, negative and zero exponents."""
    for exponent in (2, 3, 0.5, -1, 0, -0.5):
        yield Call(make(3, 4, low=0.1), exponent)
    yield Call(make.extremes(), 2)


@sample(*(f"{name}.Tensor" for name in COMPARISONS), dtypes=EVERY, gradient=False)
def comparison(make: Maker) -> Iterator[Call]:
    """Equal elements, nan, broadcasting, mixed dtypes."""
    tensor = make(3, 4)
    yield Call(tensor, tensor.clone())
    yield Call(make.extremes(), make.extremes())
    yield Call(make.transposed(3, 4), make(4))
    yield Call(make(3), make(3, dtype="float64"))


@sample("where.self", dtypes=EVERY)
def where(make: Maker) -> Iterator[Call]:
    """Three operands broadcast together."""
    yield Call(make.mask(3, 1), make(1, 4), make(3, 4))
    yield Call(make.mask(3, 4), make.transposed(3, 4), make())
    yield Call(make.mask(0), make(0), make(0))
    yield Wrong(make.mask(3), make(4), make(4))


@sample("clamp", dtypes=ARITHMETIC)
def clamp(make: Maker) -> Iterator[Call]:
    """One bound, both, and bounds the wrong way round."""
    yield Call(make(3, 4), -1, 1)
    yield Call(make(3, 4), min=0)
    yield Call(make(3, 4), max=0)
    yield Call(make(3, 4), 1, -1)
    yield Call(make.extremes(), -1, 1)
    yield Wrong(make(3))


@sample("gelu")
def gelu(make: Maker) -> Iterator[Call]:
    """Both approximations."""
    for approximate in ("none", "tanh"):
        yield Call(make.stepped(3, 4), approximate=approximate)
    yield Wrong(make(3), approximate="sometimes")


@sample("masked_fill.Scalar", dtypes=EVERY)
def masked_fill(make: Maker) -> Iterator[Call]:
    """A mask that broadcasts, and one that is no mask."""
    yield Call(make(3, 4), make.mask(4), 1)
    yield Call(make.transposed(3, 4), make.mask(3, 4), 0)
    yield Wrong(make(3, 4), make(3, 4, dtype="float32"), 1)
