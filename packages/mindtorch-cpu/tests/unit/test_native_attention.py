"""Native attention and its gradients against the numpy kernels in float64: layouts, masks, groups, sizes around the tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_cpu import native
from mindtorch_cpu.ops import attention as numpy_kernels

from .native_kernels import native_kernel

pytestmark = pytest.mark.skipif(native.module is None, reason="without the native module")


def forward(run: Any, dtype: str, query: Any, key: Any, value: Any, causal: bool, mask: Any, scale: Any) -> Any:
    batch, heads, rows, width = query.shape
    out = np.full((batch, rows, heads, width), 7, dtype).transpose(0, 2, 1, 3)
    sums = np.full((batch, rows, heads), 7, dtype).transpose(0, 2, 1)
    run((out, sums), query, key, value, 0.0, causal, mask, scale)
    return out, sums


def backward(run: Any, dtype: str, *values: Any) -> Any:
    outs = tuple(np.full(value.shape, 7, dtype) for value in values[1:4])
    run(outs, *values[:6], 0.0, *values[6:])
    return outs


def heads_inside(rng: np.random.Generator, batch: int, heads: int, rows: int, width: int) -> np.ndarray:
    """As a model makes them: (batch, rows, heads, width) seen as (batch, heads, rows, width)."""
    return rng.standard_normal((batch, rows, heads, width)).astype("f4").transpose(0, 2, 1, 3)


def doubles(*values: Any) -> list[Any]:
    return [value.astype("f8") if isinstance(value, np.ndarray) else value for value in values]


def masks(rng: np.random.Generator, batch: int, heads: int, rows: int, columns: int) -> list[Any]:
    additive = rng.standard_normal((rows, columns)).astype("f4")
    holes = np.where(rng.random((batch, 1, 1, columns)) < 0.4, -np.inf, 0).astype("f4")
    full = rng.standard_normal((batch, heads, rows, columns)).astype("f4")
    full[0, 0, rows // 2] = -np.inf
    return [None, additive, holes, full, full[:1, :, :1], additive[:, :1]]


SIZES = [
    (2, 4, 4, 1, 1, 8), (1, 2, 2, 1, 77, 64), (2, 4, 2, 3, 30, 5), (1, 4, 1, 8, 9, 16), (2, 2, 2, 9, 9, 64),
    (1, 6, 3, 70, 70, 33), (1, 2, 2, 130, 300, 64), (1, 1, 1, 65, 33, 96), (1, 2, 1, 20, 600, 16), (1, 1, 1, 1000, 70, 8),
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_forward_and_backward(size: tuple[int, ...], causal: bool, threads: int) -> None:
    batch, heads, key_heads, rows, columns, width = size
    rng = np.random.default_rng(0)
    query, grad = heads_inside(rng, batch, heads, rows, width), heads_inside(rng, batch, heads, rows, width)
    key, value = (
        heads_inside(rng, batch, key_heads, columns, width),
        heads_inside(rng, batch, key_heads, columns, width),
    )
    run = native_kernel("_scaled_dot_product_flash_attention_for_cpu")
    run_backward = native_kernel("_scaled_dot_product_flash_attention_for_cpu_backward")
    for mask, scale in zip(masks(rng, batch, heads, rows, columns), (None, 0.3, None, 0.3, None, None), strict=True):
        if causal and mask is not None and np.isinf(mask).any():
            continue
        want = forward(numpy_kernels.attention, "f8", *doubles(query, key, value, causal, mask, scale))
        got = forward(run, "f4", query, key, value, causal, mask, scale)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=5e-6)
        wanted = doubles(grad, query, key, value, *want, causal, mask, scale)
        want_gradients = backward(numpy_kernels.attention_backward, "f8", *wanted)
        gradients = backward(run_backward, "f4", grad, query, key, value, *got, causal, mask, scale)
        for one, other in zip(gradients, want_gradients, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * max(1, np.abs(other).max()))


def test_large_scores_and_nan(threads: int) -> None:
    rng = np.random.default_rng(1)
    query, key, value = (heads_inside(rng, 1, 2, 40, 16) for _ in range(3))
    query *= 200
    key[0, 1, 3, 2] = np.nan
    run = native_kernel("_scaled_dot_product_flash_attention_for_cpu")
    got = forward(run, "f4", query, key, value, False, None, None)
    want = forward(numpy_kernels.attention, "f8", *doubles(query, key, value, False, None, None))
    assert np.isnan(got[0][0, 1]).all()
    np.testing.assert_allclose(got[0][0, 0], want[0][0, 0], rtol=1e-3, atol=1e-3)


def test_one_column_has_no_gradient_of_scores(threads: int) -> None:
    rng = np.random.default_rng(2)
    query, grad, key, value = (heads_inside(rng, 1, 2, rows, 16) for rows in (20, 20, 1, 1))
    out = forward(
        native_kernel("_scaled_dot_product_flash_attention_for_cpu"), "f4", query, key, value, False, None, None
    )
    run = native_kernel("_scaled_dot_product_flash_attention_for_cpu_backward")
    to_query, to_key, _ = backward(run, "f4", grad, query, key, value, *out, False, None, None)
    assert not to_query.any()
    assert not to_key.any()


@pytest.mark.parametrize("rows", [1, 7, 30])
def test_a_row_with_one_weight_has_no_gradient_of_scores(rows: int, threads: int) -> None:
    rng = np.random.default_rng(4)
    query, grad, key, value = (heads_inside(rng, 1, 2, count, 16) for count in (rows, rows, 9, 9))
    query, key = 60 * query, 20 * key
    out = forward(
        native_kernel("_scaled_dot_product_flash_attention_for_cpu"), "f4", query, key, value, False, None, None
    )
    run = native_kernel("_scaled_dot_product_flash_attention_for_cpu_backward")
    to_query, _, _ = backward(run, "f4", grad, query, key, value, *out, False, None, None)
    scores = np.sort(query.astype("f8") @ key.astype("f8").swapaxes(2, 3) / 4, axis=-1)
    alone = scores[..., -1] - scores[..., -2] > 200
    assert alone.any()
    assert not to_query[alone].any()


def test_what_is_left_to_numpy() -> None:
    taken: list[str] = []
    run = native.module.kernel(
        "_scaled_dot_product_flash_attention_for_cpu", lambda out, *values: taken.append("numpy")
    )
    rng = np.random.default_rng(3)
    query = heads_inside(rng, 1, 2, 10, 16)
    forward(run, "f8", *doubles(query, query, query, False, None, None))
    forward(run, "f4", query[..., ::2], query[..., ::2], query[..., ::2], False, None, None)
    assert taken == ["numpy"] * 2
