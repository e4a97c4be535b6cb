"""Memory that nothing was written to holds known values while the same bits are wanted each time, as torch's."""

from __future__ import annotations

import pytest

import mindtorch
from mindtorch_testing import assert_same_value

torch = pytest.importorskip("torch", reason="oracle")

MADE = {
    "empty": lambda t, dtype: t.empty(3, dtype=dtype),
    "empty out": lambda t, dtype: t.empty(3, out=t.zeros(3, dtype=dtype)),
    "empty_strided": lambda t, dtype: t.empty_strided((2, 3), (1, 2), dtype=dtype),
    "empty_like": lambda t, dtype: t.empty_like(t.zeros(2, dtype=dtype)),
    "empty_permuted": lambda t, dtype: t.empty_permuted((2, 3), (1, 0), dtype=dtype),
    "new_empty": lambda t, dtype: t.zeros(2, dtype=dtype).new_empty(4),
    "new_empty_strided": lambda t, dtype: t.zeros(2, dtype=dtype).new_empty_strided((2,), (1,)),
    "resize_ within": lambda t, dtype: t.zeros(6, dtype=dtype)[::2].resize_(4),
    "resize_ beyond": lambda t, dtype: t.zeros(4, dtype=dtype).resize_(2).resize_(7),
    "resize_as_": lambda t, dtype: t.zeros(1, dtype=dtype).resize_as_(t.zeros(2, 2)),
}


@pytest.fixture
def deterministic():
    for one in (mindtorch, torch):
        one.use_deterministic_algorithms(True)
    yield
    for one in (mindtorch, torch):
        one.use_deterministic_algorithms(False)
        one.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "bfloat16", "complex64", "int64", "uint8", "bool", "float8_e4m3fn"]
)
def test_new_elements_are_filled(deterministic, name, dtype):
    make = MADE[name]
    assert_same_value(lambda: make(mindtorch, getattr(mindtorch, dtype)), lambda: make(torch, getattr(torch, dtype)))


def test_constructors_are_filled(deterministic):
    assert_same_value(lambda: mindtorch.Tensor(3), lambda: torch.Tensor(3))


def test_memory_is_left_where_that_is_wanted(deterministic):
    mindtorch.utils.deterministic.fill_uninitialized_memory = False
    kept = mindtorch.zeros(3)
    assert mindtorch.empty(3, out=kept).tolist() == [0.0] * 3
    mindtorch.utils.deterministic.fill_uninitialized_memory = True
    mindtorch.use_deterministic_algorithms(False)
    assert mindtorch.empty(3, out=kept).tolist() == [0.0] * 3
