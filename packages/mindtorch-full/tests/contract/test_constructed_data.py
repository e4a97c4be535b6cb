"""What `torch.tensor` makes of data at the edges of what it takes, against torch."""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CASES: list[Callable[[Any], Any]] = [
    lambda m: m.tensor([1 << 63]),
    lambda m: m.tensor(1 << 64),
    lambda m: m.tensor([(1 << 63) - 1, -(1 << 63)]),
    lambda m: m.tensor(None, dtype=m.float32),
    lambda m: m.tensor([1.0, None], dtype=m.float32),
    lambda m: m.tensor([float("nan"), 1.0]),
    lambda m: m.tensor([1j, 2], dtype=m.float32),
    lambda m: m.tensor("1.5", dtype=m.float32),
    lambda m: m.tensor(["1.5"], dtype=m.float32),
    lambda m: m.tensor(decimal.Decimal("1.5")),
    lambda m: m.tensor([fractions.Fraction(1, 2)]),
    lambda m: m.tensor(decimal.Decimal("1.5"), dtype=m.float32),
    lambda m: m.tensor(m.float32),
    lambda m: m.from_numpy(np.rec.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")])),
    lambda m: m.tensor(np.asfortranarray(np.arange(6.0).reshape(2, 3))).stride(),
    lambda m: m.tensor(np.asfortranarray(np.arange(6.0).reshape(2, 3)), dtype=m.int32),
    lambda m: m.tensor(np.arange(12.0).reshape(3, 4)[:, 1::2]).stride(),
]


@pytest.mark.parametrize("case", CASES)
def test_same_as_torch(case: Callable[[Any], Any]) -> None:
    assert_same(lambda: case(mt), lambda: case(torch))
