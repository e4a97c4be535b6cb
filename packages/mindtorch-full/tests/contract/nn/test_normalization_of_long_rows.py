"""Normalization where rows are long, memory is in an order of its own, or a mask hides whole rows, beside torch."""

from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


def constant_rows(T: Any, dtype: str) -> Any:
    rows = T.ones(3, 100_000) * 0.37 + T.arange(3).view(3, 1)
    return rows.to(getattr(T, dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_equal_elements_of_a_long_row_are_near_zero(dtype):
    """A mean of float32 sums would be off by more than the square root of eps."""
    x = constant_rows(mt, dtype)
    assert mt.layer_norm(x, [100_000]).double().abs().max().item() < 5e-3


STRIDES = [
    ((1, 2, 3, 1), (6, 1, 2, 1)),
    ((2, 3, 1, 1), (3, 1, 3, 3)),
    ((2, 3, 4, 1, 1), (12, 1, 3, 3, 3)),
    ((2, 3, 4, 1, 1), (12, 1, 3, 1, 1)),
    ((2, 3, 4, 5), (60, 1, 15, 3)),
    ((2, 3, 4, 5), (120, 1, 15, 3)),
    ((1, 2, 1, 3), (6, 1, 1, 2)),
    ((2, 3, 4), (12, 1, 3)),
]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("shape", "strides"), STRIDES)
def test_the_order_in_memory_of_what_batch_norm_makes(shape, strides, gaps, training):
    def normalized(T: Any) -> Any:
        x = T.linspace(-1, 1, 300).as_strided(shape, strides)
        weight = T.ones(2 * shape[1])[::2] if gaps else T.ones(shape[1])
        return T.batch_norm(
            x, weight, T.zeros(shape[1]), T.zeros(shape[1]), T.ones(shape[1]), training, 0.1, 1e-5, False
        )

    assert_same_value(lambda: normalized(mt), lambda: normalized(torch))


def masked(T: Any, mask: Any, kind: int, dim: int = -1) -> Any:
    x = T.linspace(-1, 2, 2 * 3 * 3).view(2, 1, 3, 3).requires_grad_()
    T._masked_softmax(x, mask, dim, kind).nan_to_num().pow(2).sum().backward()
    return x.grad


@pytest.mark.parametrize("dim", [-1, 0, 2])
def test_what_a_mask_hides_gets_no_gradient(dim):
    def case(T: Any) -> Any:
        mask = T.zeros(2, 1, 3, 3, dtype=T.bool)
        mask[:, :, 1] = mask[0, 0, :, 2] = True
        return masked(T, mask, 2, dim)

    assert_same_value(lambda: case(mt), lambda: case(torch))


@pytest.mark.parametrize(("shape", "kind"), [((3, 3), 0), ((2, 3), 1)])
def test_masks_of_a_smaller_shape_have_no_gradient(shape, kind):
    assert_torch_error(*(lambda T=T: masked(T, T.zeros(shape, dtype=T.bool), kind) for T in (mt, torch)))
