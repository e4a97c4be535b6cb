"""Equidistant numbers have torch's bits: where a product is added in one step, and which vectors begin anew."""

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 - both need torch

SIZES = (2, 3, 5, 7, 8, 9, 16, 17, 31, 33, 100, 257, 5_000)
FORMS = {
    "linspace": lambda T, a, b, n, dtype: T.linspace(a, b, n, dtype=dtype),
    "linspace of tensors": lambda T, a, b, n, dtype: T.linspace(T.tensor(a), T.tensor(b), n, dtype=dtype),
    "linspace into columns": lambda T, a, b, n, dtype: T.linspace(a, b, n, out=T.empty(n, 2, dtype=dtype)[:, 1]),
    "arange": lambda T, a, b, n, dtype: T.arange(a, b + 0.1, (b - a + 0.1) / n, dtype=dtype),
    "arange of whole numbers": lambda T, a, b, n, dtype: T.arange(int(a), int(a) + n, dtype=dtype),
    "arange into columns": lambda T, a, b, n, dtype: T.arange(a, a + n / 7, 1 / 7, out=T.empty(0, dtype=dtype)),
    "range": lambda T, a, b, n, dtype: T.range(a, a + n / 7, 1 / 7, dtype=dtype),
    "logspace": lambda T, a, b, n, dtype: T.logspace(a, b, n, dtype=dtype),
    "logspace of 2": lambda T, a, b, n, dtype: T.logspace(a, b, n, base=2, dtype=dtype),
    "logspace of 1.1": lambda T, a, b, n, dtype: T.logspace(a, b, n, base=1.1, dtype=dtype),
}


def ends():
    """Yield (start, end, how many), seeded."""
    drawn = random.Random(0)
    for size in SIZES:
        yield 0.0, 1.0, size
        yield -1.0, 1.0, size
        for _ in range(6):
            start = drawn.uniform(-5, 5)
            yield start, start + drawn.uniform(0, 9), size


@pytest.mark.filterwarnings("ignore:torch.range")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FORMS)
def test_bits_are_torchs(name, dtype):
    different = total = 0
    for start, end, size in ends():
        ours, theirs = (FORMS[name](T, start, end, size, getattr(T, dtype)).numpy() for T in (mt, torch))
        assert ours.shape == theirs.shape
        different += np.count_nonzero(ours != theirs)
        total += ours.size
    # Powers of doubles are rounded twice here, once by another library there.
    assert different <= (total / 1000 if name.startswith("logspace") and dtype == "float64" else 0)
