"""What `torch.tensor` makes of data at the edges of what it takes, against torch."""

from __future__ import annotations

import decimal
import fractions
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_dispatch.arguments import ArgumentParser

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
    lambda m: m.tensor([1.5, 2, -(2**24) - 1, 2**63, 1e300]),
    lambda m: m.tensor([[1.5, 2], (3, 2**53 + 1)], dtype=m.float64),
    lambda m: m.tensor([1, 10**400], dtype=m.float32),
    lambda m: m.tensor([1, 2.5, True]),
    lambda m: m.tensor([2**64, 1j], dtype=m.bool),
    lambda m: m.tensor([1.5, "a"], dtype=m.bool),
    lambda m: m.tensor(np.asfortranarray(np.arange(6.0).reshape(2, 3))).stride(),
    lambda m: m.tensor(np.asfortranarray(np.arange(6.0).reshape(2, 3)), dtype=m.int32),
    lambda m: m.tensor(np.arange(12.0).reshape(3, 4)[:, 1::2]).stride(),
]

STORAGES: list[Callable[[Any], Any]] = [
    lambda m: m.tensor(m.arange(6.0).untyped_storage(), dtype=m.float32),
    lambda m: m.tensor(m.arange(6.0).untyped_storage(), dtype=m.float32, requires_grad=True),
    lambda m: m.tensor(m.arange(6.0).untyped_storage()),
    lambda m: m.tensor(m.arange(3, dtype=m.int16).untyped_storage(), dtype=m.int32),
    lambda m: m.tensor(m.UntypedStorage(0)),
    lambda m: m.tensor(m.arange(6.0).storage()),
    lambda m: m.tensor(m.arange(6.0).storage(), dtype=m.int64),
    lambda m: m.as_tensor(m.arange(6.0).storage(), dtype=m.float64),
    lambda m: m.arange(6).int().new_tensor(m.arange(6.0).storage()),
    lambda m: m.FloatTensor(m.arange(6.0).untyped_storage()),
    lambda m: m.DoubleTensor(m.arange(6.0).untyped_storage()),
    lambda m: m.DoubleTensor(m.arange(6.0).storage()),
    lambda m: m.arange(6).int().new(m.arange(6.0).untyped_storage()),
    lambda m: m.arange(6).int().new(m.arange(6.0).storage()),
    lambda m: (lambda x: m.tensor(x.untyped_storage(), dtype=x.dtype).data_ptr() == x.data_ptr())(m.arange(6.0)),
    lambda m: (lambda x: m.FloatTensor(x.storage()).data_ptr() == x.data_ptr())(m.arange(6.0)),
]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("case", STORAGES)
def test_a_storage_is_not_converted(case: Callable[[Any], Any]) -> None:
    assert_same(lambda: case(mt), lambda: case(torch))


INTEGERS = ("uint64", "uint32", "uint16", "int64", "int32", "uint8", "int8", "int16", "bool")
NUMBERS: list[Any] = [
    [300], 300, [-300], [-129], [128], [70000], [2**40], [-(2**40)], [1e30], [float("nan")], [-1.5], [300.7], 1e30, [True],
    [2**64 - 1], [1.5, 2**63], [3, 2**64 - 1], [-1], -1, [2**64], [1j], [None], ["a"], "a", [[2**63], [1]], [5, None],
    [True, 2**63], [], [[], []], [1, 1e30], [-(2**63)], [-(2**63) - 1], [[1.5], [-2.5]], (2**31, -(2**31)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_that_a_dtype_cannot_hold_are_refused(dtype: str) -> None:
    for data in NUMBERS:
        assert_same(
            lambda data=data: mt.tensor(data, dtype=getattr(mt, dtype)),
            lambda data=data: torch.tensor(data, dtype=getattr(torch, dtype)),
        )


def test_the_division_of_python_2() -> None:
    for name in ("__div__", "__rdiv__"):
        assert_same(lambda name=name: getattr(mt.ones(2), name)(2), lambda name=name: getattr(torch.ones(2), name)(2))


def test_options_that_were_given_before_are_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    makers: list[Callable[[Any], Any]] = [
        lambda m: m.tensor([1, 2], dtype=m.float64),
        lambda m: m.tensor([1.0], requires_grad=True),
        lambda m: m.tensor([1.0], requires_grad=False),
        lambda m: m.tensor([1.0], requires_grad=1),
        lambda m: m.tensor([1.0], requires_grad=0),
        lambda m: m.tensor([1.0], dtype=None),
        lambda m: m.tensor([1.0], device=None, dtype=m.float16),
        lambda m: m.tensor([1.0], dtype=True),
        lambda m: m.tensor([1.0], nonsense=True),
    ]
    for make in [*makers, *makers]:
        assert_same(lambda make=make: make(mt), lambda make=make: make(torch))
    monkeypatch.setattr(ArgumentParser, "parse", lambda *_: pytest.fail("parsed again"))
    assert mt.tensor([1, 2], dtype=mt.float64).tolist() == [1.0, 2.0]
    assert mt.tensor([1.0], requires_grad=True).requires_grad


@pytest.mark.parametrize("case", CASES)
def test_same_as_torch(case: Callable[[Any], Any]) -> None:
    assert_same(lambda: case(mt), lambda: case(torch))
