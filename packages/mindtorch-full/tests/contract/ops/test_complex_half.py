"""complex32, which numpy knows as a pair of halves only: computed in complex64 and rounded once, as torch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "itself": lambda m, x, y: x,
    "multiply": lambda m, x, y: x * y,
    "multiply first": lambda m, x, y: x[0] * y[0],
    "multiply in place": lambda m, x, y: x.clone().mul_(y),
    "add": lambda m, x, y: x + y,
    "add a number": lambda m, x, y: x + 1.5,
    "subtract": lambda m, x, y: x - y,
    "negative": lambda m, x, y: -x,
    "by a number": lambda m, x, y: x * 2.5,
    "by a complex number": lambda m, x, y: x * (1 + 2j),
    "absolute": lambda m, x, y: x.abs(),
    "conjugate": lambda m, x, y: x.conj().resolve_conj(),
    "equal": lambda m, x, y: x == y,
    "joined": lambda m, x, y: m.cat([x, y]),
    "to complex64": lambda m, x, y: x.to(m.complex64),
    "and back": lambda m, x, y: (x.to(m.complex64) * 3).to(m.complex32),
    "imaginary part": lambda m, x, y: x.imag * 2,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_same_values_as_torch(name: str) -> None:
    random = np.random.default_rng(7)
    for turn in range(60):
        pairs = [(random.standard_normal((3, 2)) * 10.0 ** random.integers(-3, 4)).astype(np.float16) for _ in range(2)]
        pairs[0][turn % 3, turn % 2] = (np.inf, np.nan, -0.0, 0.0)[turn % 4]
        shown = []
        for side in (mt, torch):
            values = [side.frombuffer(bytearray(pair.tobytes()), dtype=side.complex32) for pair in pairs]
            shown.append(repr(OPERATIONS[name](side, *values)))
        assert shown[0] == shown[1], pairs


MADE = """
T.ones(2, dtype=T.chalf)
T.ones_like(T.ones(2), dtype=T.chalf)
T.full((2,), 2.5, dtype=T.chalf)
T.full((2,), 1e6 + 2j, dtype=T.chalf)
T.ones(2).new_full((2,), 3.0, dtype=T.chalf)
T.scalar_tensor(1 + 2j, dtype=T.chalf)
T.tensor([1 + 2j, 3], dtype=T.chalf)
T.tensor([1, 3.0], dtype=T.chalf)
T.zeros(2, dtype=T.chalf).fill_(3)
T.zeros(2, dtype=T.chalf).fill_(T.tensor(3.0))
T.zeros(2, dtype=T.chalf).masked_fill(T.tensor([True, False]), 3.0)
T.zeros(2, dtype=T.chalf).index_fill(0, T.tensor([1]), 2.0)
T.zeros(2, dtype=T.chalf).add_(T.ones(2))
T.zeros(2, 3, dtype=T.chalf).copy_(T.ones(3, 2, dtype=T.chalf).t())
T.add(T.ones(2), T.ones(2), out=T.zeros(2, dtype=T.chalf))
T.where(T.tensor([True, False]), T.ones(2, dtype=T.chalf), 2.0)
T.nn.functional.pad(T.ones(2, dtype=T.chalf), (1, 1), value=2.0)
T.ones(3, dtype=T.chalf) == 1
T.ones(3, dtype=T.chalf).abs()
"""


@pytest.mark.parametrize("expression", MADE.strip().splitlines())
def test_numbers_have_no_imaginary_part(expression: str) -> None:
    ours, theirs = (repr(eval(expression, {"T": side})) for side in (mt, torch))
    assert ours == theirs


DRAWN = """
T.randn(3, dtype=T.chalf)
T.randn(20, dtype=T.chalf)
T.rand(20, dtype=T.chalf)
T.zeros(3, 8, dtype=T.chalf).t().normal_(1, 2)
T.normal(T.zeros(3, dtype=T.chalf), 1.5)
T.randn_like(T.zeros(3, dtype=T.chalf))
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@pytest.mark.parametrize("drawn", DRAWN)
def test_random_numbers(drawn: str) -> None:
    """Each part is drawn of its own."""
    shown = []
    for side in (mt, torch):
        side.manual_seed(3)
        shown.append(eval(drawn, {"T": side}).to(side.complex64).tolist())
    assert shown[0] == shown[1]
