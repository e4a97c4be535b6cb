"""Rows of attention whose scores are all -inf, and what stays in its window where pools and resizing meet infinity."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

INF = float("inf")


def _attention(t: Any, dtype: str, columns: int, masked: str, row: str) -> list[list[Any]]:
    t.manual_seed(0)
    query, key, value = (t.randn(1, 2, count, 8).to(getattr(t, dtype)).abs() for count in (40, columns, columns))
    if row == "-inf":
        query[0, 0, 1] = -INF
    elif row == "all":
        query[...] = -INF
    else:
        query[0, 0, 1], key = -1e30, key * 1e30
    mask = None
    if masked == "zeros":
        mask = t.zeros(40, columns, dtype=getattr(t, dtype))
    elif masked == "bool":
        mask = t.ones(40, columns, dtype=t.bool)
        mask[2] = False
    operands = [each.requires_grad_() for each in (query, key, value)]
    out = t.nn.functional.scaled_dot_product_attention(*operands, mask, is_causal=masked == "causal")
    to_query, _, to_value = t.autograd.grad(out, operands, t.ones_like(out))
    if row == "overflowing":  # where gradients are what rounding left
        return [out.detach().reshape(-1).tolist()]
    # A key's gradient adds products with infinite queries: which sums of them are nan depends on the order.
    return [each.reshape(-1).tolist() for each in (out.detach(), to_query, to_value)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [5, 70])
@pytest.mark.parametrize("masked", ["none", "zeros", "bool", "causal"])
@pytest.mark.parametrize("row", ["-inf", "all", "overflowing"])
def test_a_row_without_weights_is_zero(dtype: str, columns: int, masked: str, row: str) -> None:
    if row == "overflowing" and dtype == "float64":
        pytest.skip("its scores are finite")
    for ours, theirs in zip(
        _attention(mt, dtype, columns, masked, row), _attention(torch, dtype, columns, masked, row), strict=True
    ):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_saved_sum_of_such_a_row_is_zero(dtype: str) -> None:
    def sums(t: Any) -> Any:
        query, key = (t.ones(1, 1, count, 4, dtype=getattr(t, dtype)) for count in (3, 6))
        query[0, 0, 1] = -INF
        made = t.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, key, key, 0.0, False)
        return made[1].reshape(-1).tolist()

    assert sums(mt) == pytest.approx(sums(torch))


def _pooled(t: Any, name: str) -> list[Any]:
    x = t.arange(2 * 9 * 12, dtype=t.float32).reshape(1, 2, 9, 12)
    x[0, 0, 4, 5] = INF
    x.requires_grad_()
    out = getattr(t.nn.functional, name)(x, (4, 5))
    slopes = t.ones_like(out)
    slopes[0, 1, 0, 0] = INF
    (grad,) = t.autograd.grad(out, x, slopes)
    return out.detach().reshape(-1).tolist() + grad.reshape(-1).tolist()


@pytest.mark.parametrize("name", ["adaptive_avg_pool2d", "adaptive_max_pool2d"])
def test_infinity_stays_in_its_cells(name: str) -> None:
    assert _pooled(mt, name) == pytest.approx(_pooled(torch, name), rel=1e-5)
