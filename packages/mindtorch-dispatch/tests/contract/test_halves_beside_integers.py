"""Whole numbers are rounded to the half that a call computes in before it computes, but for one number where torch keeps it."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the oracle says what is rounded")
import mindtorch as mt  # noqa: E402 (after the check that torch is there)

OPS = (
    "add sub mul div maximum minimum fmax atan2 pow remainder fmod ne lt ge copysign hypot logaddexp add_ mul_ div_ "
    "remainder_ atan2_"
).split()
SIZES = [(), (1,), (1, 1), (3,)]


@pytest.mark.parametrize("half", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", OPS)
def test_a_number_that_the_half_does_not_hold(op: str, half: str) -> None:
    """2049 is none of float16, 257 none of bfloat16, 70000 is infinite in float16."""

    def computed(T: Any, number: int, sizes: tuple[tuple[int, ...], tuple[int, ...]], swapped: bool) -> Any:
        given = T.full(sizes[0], number, dtype=T.int64), T.full(sizes[1], 1.5, dtype=getattr(T, half))
        first, second = given[::-1] if swapped else given
        try:
            return str(getattr(first, op)(second).tolist())
        except RuntimeError as error:
            return str(error)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for case in itertools.product((257, 2049, 70000), itertools.product(SIZES, SIZES), (False, True)):
            assert computed(mt, *case) == computed(torch, *case), case
