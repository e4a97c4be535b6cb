"""Elementwise operations on operands that do not lie like the result, or are no float32: one kernel each."""

from collections.abc import Callable

import torch

SQUARE = (1024, 1024)

Step = Callable[[], object]


def add_transposed() -> Step:
    """One operand is turned."""
    a, b = torch.randn(SQUARE), torch.randn(SQUARE).t()
    return lambda: a + b


def add_every_other() -> Step:
    """Every other column of one operand."""
    a, b = torch.randn(1024, 512), torch.randn(SQUARE)[:, ::2]
    return lambda: a + b


def add_column() -> Step:
    """One element to each row."""
    a, b = torch.randn(512, 3072), torch.randn(512, 1)
    return lambda: a + b


def outer() -> Step:
    """A column by a row."""
    a, b = torch.randn(1024, 1), torch.randn(1, 1024)
    return lambda: a * b


def where() -> Step:
    """By a mask of half."""
    mask, a, b = torch.randn(SQUARE) > 0, torch.randn(SQUARE), torch.randn(SQUARE)
    return lambda: torch.where(mask, a, b)


def masked_fill() -> Step:
    """As attention masks keys."""
    x, mask = torch.randn(4, 12, 128, 128), torch.randn(4, 1, 1, 128) > 0
    return lambda: x.masked_fill(mask, -1e9)


def clamp() -> Step:
    """By two numbers."""
    x = torch.randn(SQUARE)
    return lambda: x.clamp(-1, 1)


def compare() -> Step:
    """To truth values."""
    a, b = torch.randn(SQUARE), torch.randn(SQUARE)
    return lambda: a > b


def remainder() -> Step:
    """By a number."""
    x = torch.randn(1024, 512)
    return lambda: x % 3


def nan_to_num() -> Step:
    """Finite numbers alone."""
    x = torch.randn(SQUARE)
    return lambda: x.nan_to_num()


def add_whole_numbers() -> Step:
    """int64."""
    a, b = torch.randint(0, 100, (1024, 512)), torch.randint(0, 100, (1024, 512))
    return lambda: a + b


def shift() -> Step:
    """int64, by a number."""
    x = torch.randint(0, 100, (1024, 512))
    return lambda: x << 2


def add_double() -> Step:
    """float64."""
    a, b = torch.randn(512, 1024, dtype=torch.float64), torch.randn(512, 1024, dtype=torch.float64)
    return lambda: a + b


def exp_double() -> Step:
    """float64."""
    x = torch.randn(512, 1024, dtype=torch.float64)
    return lambda: x.exp()


def sin_double() -> Step:
    """float64."""
    x = torch.randn(512, 1024, dtype=torch.float64)
    return lambda: x.sin()


def erf_double() -> Step:
    """float64."""
    x = torch.randn(512, 1024, dtype=torch.float64)
    return lambda: x.erf()


def sigmoid_double() -> Step:
    """float64."""
    x = torch.randn(512, 1024, dtype=torch.float64)
    return lambda: x.sigmoid()


def special_functions() -> Step:
    """float32, and float64 for what is cheap."""
    x, y = torch.rand(SQUARE) * 1.8 - 0.9, torch.randn(SQUARE)
    wide = y.double()

    def step() -> tuple[torch.Tensor, ...]:
        normal = torch.erfc(x), torch.erfinv(x), torch.logit(x.abs())
        return *normal, torch.hypot(x, y), torch.nn.functional.elu(y), torch.nn.functional.leaky_relu(wide)

    return step


def linspace() -> Step:
    """float32."""
    return lambda: torch.linspace(0, 1, 524288)


def add_bfloat16() -> Step:
    """Rounded once."""
    a, b = torch.randn(SQUARE).bfloat16(), torch.randn(SQUARE).bfloat16()
    return lambda: a + b


def add_float16() -> Step:
    """Rounded once."""
    a, b = torch.randn(SQUARE).half(), torch.randn(SQUARE).half()
    return lambda: a + b


def clamp_float16() -> Step:
    """By two numbers."""
    x = torch.randn(SQUARE).half()
    return lambda: x.clamp(-1, 1)


def sin_float16() -> Step:
    """Rounded once."""
    x = torch.randn(SQUARE).half()
    return lambda: x.sin()
