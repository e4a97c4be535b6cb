"""Whole numbers that are no plain `int`, as sizes, dimensions and data: members of enumerations and numpy's."""

import enum

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


class Three(enum.IntEnum):
    ZERO = 0
    ONE = 1
    THREE = 3


class Number(int):
    pass


NUMBERS = [(Three.ZERO, Three.ONE, Three.THREE), tuple(map(Number, (0, 1, 3))), tuple(map(np.int64, (0, 1, 3)))]
CALLS = [
    lambda t, x, zero, one, three: t.zeros(three),
    lambda t, x, zero, one, three: t.zeros(three, three),
    lambda t, x, zero, one, three: x.sum(zero),
    lambda t, x, zero, one, three: x.roll(three),
    lambda t, x, zero, one, three: x.roll(one, zero),
    lambda t, x, zero, one, three: t.nn.functional.avg_pool2d(t.ones(1, 1, 4, 4), three),
    lambda t, x, zero, one, three: t.nn.functional.max_pool2d(t.ones(1, 1, 6, 6), three, one),
    lambda t, x, zero, one, three: t.nn.functional.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), stride=one),
    lambda t, x, zero, one, three: x.flip(one),
    lambda t, x, zero, one, three: x.mean(one, keepdim=True),
    lambda t, x, zero, one, three: t.tensor(three),
    lambda t, x, zero, one, three: t.tensor([three, one]),
    lambda t, x, zero, one, three: t.Tensor(three).shape,
    lambda t, x, zero, one, three: t.Tensor(three, one).shape,
    lambda t, x, zero, one, three: t.Tensor(True),
]


@pytest.mark.parametrize("numbers", NUMBERS, ids=lambda numbers: type(numbers[0]).__name__)
@pytest.mark.parametrize("call", CALLS)
def test_they_count_as_by_torch(call, numbers):
    def outcome(t):
        try:
            made = call(t, t.arange(6.0).reshape(2, 3), *numbers)
        except TypeError as error:
            return str(error)
        return (made.tolist(), str(made.dtype)) if isinstance(made, t.Tensor) else tuple(made)

    for _ in range(2):  # the second call may run what the first one planned
        assert outcome(mt) == outcome(torch)
