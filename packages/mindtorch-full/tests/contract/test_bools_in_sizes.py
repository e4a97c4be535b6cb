"""Lists of integers take `True` and `False` after their first place, as torch's do, which looks at the first alone."""

from __future__ import annotations

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

CALLS = """
T.zeros(2, True)
T.zeros(2, False)
T.zeros(True, 2)
T.zeros((True, 2))
(T.zeros((1, 2)), T.zeros((True, 2)))
T.ones((2, True))
T.ones(size=(2, True))
T.full((2, True), 1)
T.ones(2).view(2, True)
T.ones(2).view(True, 2)
T.ones(2).reshape((2, True))
T.ones(2, 1).expand(2, True)
T.ones(2).repeat(2, True)
T.ones(1, 2).permute(1, False)
T.ones(1, 2).sum((0, True))
T.ones(1, 2).sum([True])
T.ones(2).new_zeros(2, True)
T.ones(2).as_strided((2, True), (1, 1))
T.arange(2.0).split([1, True])
T.nn.functional.pad(T.ones(2), (1, True))
T.nn.functional.avg_pool2d(T.ones(1, 3, 3), (2, True))
T.zeros(2, 3.0)
T.zeros(2, "a")
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call):
    assert_same(lambda: eval(call, {"T": mt}), lambda: eval(call, {"T": torch}))
