"""Random operands of the native kernels: numpy's kernels give the same, and what differs is noticed."""

import numpy as np
import pytest

import mindtorch as mt
from mindtorch_cpu import native
from mindtorch_testing.operands import calls
from mindtorch_testing.operands.__main__ import compare
from mindtorch_testing.operands.draw import LAYOUTS, Operands


@pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
def test_every_native_kernel_has_a_recipe():
    assert set(native.rows()) == set(calls.ROWS)


@pytest.mark.slow
@pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
def test_native_kernels_give_what_numpys_give():
    assert list(compare(5, range(3 * len(calls.ROWS)), calls.ROWS)) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_have_the_shape_and_the_memory_of_their_layout(layout, monkeypatch):
    monkeypatch.setattr("mindtorch_testing.operands.draw.LAYOUTS", {layout: 1})
    for seed in range(20):
        draw = Operands(seed)
        made = draw.tensor((4, 3, 5), "float32")
        assert tuple(made.shape) == (4, 3, 5)
        assert made.dtype is mt.float32
        assert any(one.untyped_storage().data_ptr() == made.untyped_storage().data_ptr() for one in draw.made)
        if layout == "misaligned":
            assert made.data_ptr() % 4 == 1


def test_a_call_is_the_same_each_time():
    for row in ("add.Tensor", "cumsum", "index_put", "randn"):
        first, second = (list(calls.outcomes(row, 3)) for _ in range(2))
        assert [way for way, _ in first] == [way for way, _ in second]
        assert all(calls.difference(mine, other) == "" for (_, mine), (_, other) in zip(first, second, strict=True))


def test_what_differs_is_said():
    kept = mt.zeros(3)

    def outcome(value, **options):
        return calls.attempt(lambda: value, [kept], **options)

    expected = outcome(mt.tensor([1.0, float("nan"), 3.0]))
    assert calls.difference(outcome(mt.tensor([1.00001, float("nan"), 3.0])), expected) == ""
    assert "at [2]" in calls.difference(outcome(mt.tensor([1.0, float("nan"), 3.1])), expected)
    assert "at [1]" in calls.difference(outcome(mt.tensor([1.0, 2.0, 3.0])), expected)
    assert "dtype float64" in calls.difference(outcome(mt.tensor([1.0, 2.0, 3.0]).double()), expected)
    assert "shape" in calls.difference(outcome(mt.ones(1, 3)), expected)
    assert "strides" in calls.difference(outcome(mt.ones(6)[::2]), expected)
    assert "results" in calls.difference(outcome([mt.ones(3), mt.ones(3)]), expected)
    kept[1] = 5.0
    assert "memory 0" in calls.difference(outcome(mt.tensor([1.0, float("nan"), 3.0])), expected)
    refused = calls.attempt(lambda: mt.ones(2) + mt.ones(3), [])
    assert refused[0] == "RuntimeError"
    assert "RuntimeError" in calls.difference(expected, refused)


def test_elements_that_share_memory():
    assert calls.folded(mt.ones(1).expand(3))
    assert calls.folded(mt.ones(9).as_strided((3, 3), (1, 1)))
    assert not calls.folded(mt.ones(9).as_strided((2, 3), (1, 2)))
    assert not calls.folded(mt.from_numpy(np.ones((3, 4))).t())
