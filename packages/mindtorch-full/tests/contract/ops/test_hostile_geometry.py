"""Extents, steps, offsets and places that no memory has are refused with torch's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import mindtorch
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

REFUSED: dict[str, Callable[[Any], Any]] = {
    "extents": lambda t: t.empty(2**62, 2**62, 0),
    "steps": lambda t: t.empty_strided((2,), (2**62,)),
    "step below 0": lambda t: t.empty_strided((2,), (-1,)),
    "view's steps": lambda t: t.ones(4).as_strided((2, 2), (2**62, 2**62), 0),
    "view's offset": lambda t: t.ones(4).as_strided((2,), (1,), 2**63 - 1),
    "sorter beyond": lambda t: t.searchsorted(t.tensor([1.0, 2.0]), t.tensor([1.0]), sorter=t.tensor([9, 0])),
    "sorter below": lambda t: t.searchsorted(t.tensor([1.0, 2.0]), t.tensor([1.0]), sorter=t.tensor([-1, 0])),
    "too many repeats": lambda t: t.repeat_interleave(t.tensor([1, 2]), output_size=1),
    "too few repeats": lambda t: t.ones(2).repeat_interleave(t.tensor([1, 2]), output_size=9),
}

ANSWERED: dict[str, Callable[[Any], Any]] = {
    "step of one element": lambda t: t.empty_strided((2, 1), (1, -1)).fill_(3.0).sum(),
    "empty": lambda t: t.empty(2**20, 0, 2**20),
    "sorter": lambda t: t.searchsorted(t.tensor([2.0, 1.0]), t.tensor([1.5]), sorter=t.tensor([1, 0])),
    "repeats": lambda t: t.ones(2).repeat_interleave(t.tensor([1, 2]), output_size=3),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    assert_torch_error(lambda: REFUSED[name](mindtorch), lambda: REFUSED[name](torch))


@pytest.mark.parametrize("name", ANSWERED)
def test_answered(name: str) -> None:
    assert_same_value(lambda: ANSWERED[name](mindtorch), lambda: ANSWERED[name](torch))
