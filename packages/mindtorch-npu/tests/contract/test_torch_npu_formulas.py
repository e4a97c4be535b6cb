"""Operators of torch_npu beside the formulas that the vendor's documents give, in numpy's float64, and its own examples."""

from __future__ import annotations

import re

import numpy as np
import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch._torch_npu.utils import _error_code  # noqa: E402

RNG = np.random.default_rng


def there(array, dtype=None):
    made = mindtorch.from_numpy(np.ascontiguousarray(array))
    return (made if dtype is None else made.to(dtype)).npu()


def back(x):
    return x.detach().cpu().double().numpy()


def near(found, expected, atol=1e-4):
    np.testing.assert_allclose(back(found), expected, atol=atol, rtol=1e-4)


def whole(*shape, seed=0, reach=20):
    return RNG(seed).integers(-reach, reach, shape).astype(np.int8)


def draw(*shape, seed=0):
    return RNG(seed).standard_normal(shape).astype(np.float32)


def scales(*shape, seed=0):
    return RNG(seed).uniform(0.01, 0.1, shape).astype(np.float32)


def rounded(x):
    top = np.abs(x).max(-1, keepdims=True)
    return np.rint(x * 127 / top), top[:, 0] / 127


def silu(x):
    return x / (1 + np.exp(-x))


def test_products_of_integers_are_scaled_back(npu):
    x = RNG(1).integers(-500, 500, (3, 4)).astype(np.int32)
    by_column, by_row = scales(4), scales(3, seed=1)
    for bias in (draw(4), RNG(2).integers(-9, 9, 4).astype(np.int32)):
        expected = x.astype(float) + (bias if bias.dtype == np.int32 else 0)
        expected = expected * by_column * by_row[:, None] + (0 if bias.dtype == np.int32 else bias)
        given = (there(x), there(by_column), there(by_row), there(bias))
        near(torch_npu.npu_dequant_bias(*given, output_dtype=mindtorch.float32), expected)
    with pytest.raises(RuntimeError, match="x must be a matrix of int32"):
        torch_npu.npu_dequant_bias(there(draw(2, 2)), there(by_column), None, None)


def test_rows_become_eight_bits_on_the_way(npu):
    x, weight, factor = draw(4, 6), whole(5, 6), scales(5)
    eight, by_row = rounded(x.astype(float))
    expected = eight @ weight.T.astype(float) * factor * by_row[:, None]
    near(torch_npu.npu_quant_matmul_dequant(there(x), there(weight), there(factor)), expected, 1e-3)
    smooth, step = scales(6, seed=3) * 20, np.float32(0.03)
    eight = np.clip(np.rint(x.astype(float) * smooth / step), -128, 127)
    expected = eight @ weight.T.astype(float) * factor * step
    options = {"x_scale": there([step]), "smooth_scale": there(smooth), "quant_mode": "pertensor"}
    near(torch_npu.npu_quant_matmul_dequant(there(x), there(weight), there(factor), **options), expected, 1e-3)
    groups, ends = whole(2, 5, 6, seed=4), [1, 4]
    eight, by_row = rounded(x.astype(float))
    expected = np.concatenate(
        [
            eight[a:b] @ groups[n].T.astype(float) * factor * by_row[a:b, None]
            for n, (a, b) in enumerate(((0, 1), (1, 4)))
        ]
    )
    made = torch_npu.npu_quant_grouped_matmul_dequant(
        there(x), there(groups), there(np.stack([factor, factor])), there(np.array(ends))
    )
    near(made, expected, 1e-3)


def test_products_that_go_through_gelu_or_are_summed(npu):
    x, weight, by_row, by_column = whole(3, 8), whole(8, 4, seed=1), scales(3), scales(4, seed=1)
    product = x.astype(float) @ weight.astype(float) * by_column * by_row[:, None]
    expected = 0.5 * product * (1 + np.tanh(np.sqrt(2 / np.pi) * (product + 0.044715 * product**3)))
    made = torch_npu.npu_quant_matmul_gelu(
        there(x), there(weight), there(by_row), there(by_column), approximate="gelu_tanh"
    )
    assert made.dtype == mindtorch.float16
    near(made, expected, 0.01)
    batch, matrices, rows = whole(2, 3, 8), whole(2, 8, 4, seed=2), scales(2, 3)
    expected = (batch.astype(float) @ matrices.astype(float) * by_column * rows[..., None]).sum(0)
    made = torch_npu.npu_quant_matmul_reduce_sum(
        there(batch), there(matrices), x1_scale=there(rows), x2_scale=there(by_column)
    )
    assert made.dtype == mindtorch.bfloat16
    np.testing.assert_allclose(back(made), expected, atol=0.02, rtol=0.01)


def test_experts_products_are_gated_and_rounded(npu):
    x, weight, by_column, by_row = whole(5, 6), whole(2, 6, 8, seed=1), scales(2, 8), scales(5, seed=1)
    expected, tops = np.zeros((5, 4)), np.zeros(5)
    for group, part in enumerate((slice(0, 2), slice(2, 5))):
        product = x[part].astype(float) @ weight[group].astype(float) * by_column[group] * by_row[part, None]
        expected[part], tops[part] = rounded(silu(product[:, :4]) * product[:, 4:])
    made, found, none = torch_npu.npu_grouped_matmul_swiglu_quant(
        there(x), there(weight), there(np.array([2, 5])), there(by_column), there(by_row)
    )
    assert np.abs(back(made) - expected).max() <= 1
    assert none.numel() == 0
    near(found, tops)
    second = torch_npu.npu_grouped_matmul_swiglu_quant_v2(
        there(x), [there(weight)], [there(by_column)], there(by_row), there(np.array([2, 3])), group_list_type=1
    )
    assert mindtorch.equal(second[0].cpu(), made.cpu())


def test_experts_products_are_summed_up_where_they_belong(npu):
    x, weight, by_column, by_row = whole(4, 6), whole(2, 6, 3, seed=1), scales(2, 3), scales(4, seed=1)
    logit, rows, shared = scales(4, seed=2), np.array([1, 0, 1, 2]), draw(2, 3)
    expected = np.zeros((3, 3))
    expected[1:3] += 0.5 * shared
    for place, group in enumerate((0, 0, 0, 1)):
        one = x[place].astype(float) @ weight[group].astype(float) * by_column[group] * by_row[place] * logit[place]
        expected[rows[place]] += one
    made = torch_npu.npu_grouped_matmul_finalize_routing(
        there(x), there(weight), there(np.array([3, 1])), scale=there(by_column), pertoken_scale=there(by_row),
        logit=there(logit), row_index=there(rows), shared_input=there(shared), shared_input_weight=0.5,
        shared_input_offset=1, output_bs=3,
    )  # fmt: skip
    near(made, expected)


def test_integers_go_through_swiglu_to_eight_bits(npu):
    x = RNG(0).integers(-300, 300, (4, 8)).astype(np.int32)
    by_column, by_row = scales(8), scales(4, seed=1)
    wide = x.astype(float) * by_column * by_row[:, None]
    expected, tops = rounded(silu(wide[:, 4:]) * wide[:, :4])
    made, found = torch_npu.npu_dequant_swiglu_quant(
        there(x), weight_scale=there(by_column), activation_scale=there(by_row), quant_mode=1
    )
    assert np.abs(back(made) - expected).max() <= 1
    near(found, tops)
    floats = draw(4, 8)
    gate, linear = np.minimum(floats[:, ::2], 7.0), np.clip(floats[:, 1::2], -7.0, 7.0)
    expected, tops = rounded((gate / (1 + np.exp(-1.702 * gate)) * (linear + 1)).astype(float))
    made, found = torch_npu.npu_dequant_swiglu_quant(there(floats), quant_mode=1, swiglu_mode=1)
    assert np.abs(back(made) - expected).max() <= 1
    near(found, tops)


def test_rows_are_rounded_on_the_way_to_their_experts(npu):
    x, experts = draw(3, 4), np.array([[1, 0], [2, 1], [0, 2]], np.int32)
    made, places, counts, _, found = torch_npu.npu_moe_init_routing_quant(
        there(x), there(experts), active_num=0, expert_num=3, expert_tokens_num_mode=2
    )
    order = experts.flatten().argsort(kind="stable")
    expected, tops = rounded(x[order // 2].astype(float))
    assert np.abs(back(made) - expected).max() <= 1
    near(found, tops)
    assert places.tolist() == order.argsort(kind="stable").tolist()
    assert counts.tolist() == [2, 2, 2]


def delta_rule(q, k, v, state, beta, g):
    """The rule of the vendor's document, token by token: one head, states of value by key."""
    made = []
    for at in range(len(v)):
        state = state * np.exp(g[at])
        state = state + np.outer(beta[at] * (v[at] - state @ k[at]), k[at])
        made.append(state @ q[at])
    return np.stack(made), state


def test_states_that_forget_and_learn(npu):
    q, k = draw(3, 2, 4), draw(3, 2, 4, seed=1)
    v, beta, g = draw(3, 2, 5, seed=2), scales(3, 2) * 5, -scales(3, 2, seed=1)
    first = draw(4, 2, 5, 4, seed=3)
    lengths, places = np.array([2, 1], np.int32), np.array([2, 0, 3], np.int32)
    options = {"beta": there(beta), "g": there(g), "scale": 0.5, "actual_seq_lengths": there(lengths)}
    state = there(first)
    made = torch_npu.npu_recurrent_gated_delta_rule(
        there(q), there(k), there(v), state, ssm_state_indices=there(places), **options
    )
    for head in range(2):
        for part, begin in ((slice(0, 2), 2), (slice(2, 3), 3)):
            given = (q[part, head] * 0.5, k[part, head], v[part, head], first[begin, head].astype(float))
            expected, last = delta_rule(*given, beta[part, head], g[part, head])
            near(made[part, head], expected)
            near(state[places[part][-1], head], last)
    out, last = torch_npu.npu_chunk_gated_delta_rule(
        there(q), there(k), there(v), initial_state=there(first[[2, 3]]), **options
    )
    near(out, back(made))
    near(last, back(state)[[0, 3]])


def test_convolutions_with_what_came_before(npu):
    x, weight = draw(6, 2, 3), draw(3, 3, seed=1)
    mask = RNG(2).random((2, 6)) > 0.3
    padded = np.concatenate([np.zeros((2, 2, 3)), x])
    expected = sum(padded[step : step + 6] * weight[step] for step in range(3)) * mask.T[..., None]
    near(torch_npu.npu_masked_causal_conv1d(there(x), there(weight), mask=there(mask)), expected)
    grads = torch_npu.npu_masked_causal_conv1d_backward(
        there(np.ones_like(x)), there(x), there(weight), mask=there(mask)
    )
    kept = np.concatenate([mask.T[..., None] * np.ones_like(x), np.zeros((2, 2, 3))])
    near(grads[0], sum(kept[2 - step : 8 - step] * weight[step] for step in range(3)))
    near(grads[1], np.stack([(padded[step : step + 6] * mask.T[..., None]).sum((0, 1)) for step in range(3)]))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_recurrent_layers_return_their_gates(npu):
    x, weight, bias = draw(3, 2, 4), draw(4 + 5, 20, seed=1), draw(20, seed=2)
    h = c = np.zeros((2, 5))
    outputs, cells, gates = [], [], []
    for one in x.astype(float):
        i, f, j, o = np.split(np.concatenate([one, h], 1) @ weight + bias, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
        cells.append(c)
        gates.append(np.tanh(j))
    none = there(np.zeros((1, 2, 5), np.float32))
    flags = (True, 1, 0.0, False, False, False, False, False)
    made = torch_npu.npu_lstm(there(x), there(weight), there(bias), there(draw(1)), none, none, *flags)
    for found, expected in zip((made[0], made[2], made[4]), (outputs, cells, gates), strict=True):
        near(found, np.stack(expected))
    zero = there(np.zeros((2, 5), np.float32))
    cell = torch_npu.npu_lstm_cell(
        there(x[0]), there(weight[:4]), there(weight[4:]), zero, zero, there(bias), there(bias * 0)
    )
    near(cell[1], outputs[0])
    own, inner = draw(4, 15, seed=3), draw(5, 15, seed=4)
    h, outputs = np.zeros((2, 5)), []
    for one in x.astype(float):
        (r, z, n), (s, t, m) = np.split(one @ own, 3, 1), np.split(h @ inner, 3, 1)
        new = np.tanh(n + sigmoid(r + s) * m)
        h = sigmoid(z + t) * h + (1 - sigmoid(z + t)) * new
        outputs.append(h)
    nothing = there(np.zeros(15, np.float32))
    flags = (False, 1, 0.0, False, False, False)
    gru = torch_npu.npu_gru(there(x), none, there(own), there(inner), nothing, nothing, there(draw(1)), *flags)
    near(gru[0], np.stack(outputs))


def test_turned_boxes_have_the_vendors_own_numbers(npu):
    anchors = there(np.array([[[44.2877], [9.1412], [88.7575], [25.8879], [64.8047]]], np.float32))
    boxes = there(np.array([[[39.1763], [0.9838], [78.1028], [29.5997], [51.5907]]], np.float32))
    ones = there(np.ones(5, np.float32))
    deltas = torch_npu.npu_rotated_box_encode(anchors, boxes, ones)
    near(deltas.flatten(), [-0.1773, -0.1327, -0.1331, 0.5358, -0.8643])
    near(torch_npu.npu_rotated_box_decode(anchors, deltas, ones).flatten(), back(boxes).flatten(), 1e-3)
    square = np.array([[[0, 0, 2, 2, 0], [1, 0, 2, 2, 0], [0, 0, 2, 2, 45], [9, 9, 1, 1, 30]]], np.float32)
    octagon = 8 * (np.sqrt(2) - 1)
    shared = torch_npu.npu_rotated_overlaps(there(square[:, :1]), there(square))
    near(shared.flatten(), [4, 2, octagon, 0], 1e-3)
    joint = torch_npu.npu_rotated_iou(there(square[:, :1]), there(square))
    near(joint.flatten(), [1, 1 / 3, octagon / (8 - octagon), 0], 1e-3)
    kept, count = torch_npu.npu_nms_rotated(there(square[0]), there(np.array([0.5, 0.9, 0.8, 0.7], np.float32)), 0.3)
    assert kept.tolist() == [1, 2, 3]
    assert count.tolist() == [3]


def test_grids_ranges_and_statistics(npu):
    overlaps = np.array([[0.9, 0.1, 0.3], [0.2, 0.6, 0.4]], np.float32)
    made = torch_npu.npu_grid_assign_positive(
        there(np.full(3, -1, np.float32)), there(overlaps), there(np.array([1, 1, 0], np.uint8)),
        there(overlaps.max(0)), there(overlaps.argmax(0).astype(np.int32)), there(overlaps.max(1)),
        there(overlaps.argmax(1).astype(np.int32)), 2, 0.95, 0.5, True,
    )  # fmt: skip
    assert made.tolist() == [1, 2, -1]
    x, lengths = draw(2, 3, 5), np.array([3, 5], np.int32)
    expected = np.stack(
        [
            (one - one[:, :n].mean(1, keepdims=True)) / (one[:, :n].std(1, ddof=1, keepdims=True) + 1e-5)
            for one, n in zip(x.astype(float), lengths, strict=True)
        ]
    )
    near(torch_npu.npu_normalize_batch(there(x), there(lengths)), expected)
    filled = x.copy()
    filled[0, :, 1:3], filled[1, :, 2:5] = 7, 7
    bounds = (
        there(np.array([[1, 2]], np.int32)),
        there(np.array([[3, 5]], np.int32)),
        there(np.array([7.0], np.float32)),
    )
    near(torch_npu.npu_masked_fill_range(there(x), *bounds, 2), filled)
    sums, squares, counts = draw(4, 3), np.abs(draw(4, 3, seed=1)) * 40, np.array([4, 5, 6, 4], np.float32)
    mean = sums.astype(float).sum(0) / 19
    spread = squares.astype(float).sum(0) / 19 - mean**2
    running = there(np.ones(3, np.float32))
    found = torch_npu.batch_norm_gather_stats_update(
        there(x), there(sums), there(squares), running, None, 0.1, 1e-5, there(counts)
    )
    near(found[0], mean)
    near(found[1], (spread + 1e-5) ** -0.5)
    near(running, 0.1 * mean + 0.9)


def attention(q, k, v, scale, added=0.0):
    share = q.shape[1] // k.shape[1]
    k, v = k.repeat(share, 1), v.repeat(share, 1)
    scores = np.einsum("qhd,khd->hqk", q.astype(float), k) * scale + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)


def causal(rows, columns):
    return np.where(np.arange(columns) > np.arange(columns - rows, columns)[:, None], -np.inf, 0.0)


def test_attention_of_the_transformer_library(npu):
    q, k, v = draw(5, 4, 6), draw(5, 2, 6, seed=1), draw(5, 2, 6, seed=2)
    out, lengths = there(np.zeros_like(q)), mindtorch.tensor([2, 3], dtype=mindtorch.int32)
    parts = (slice(0, 2), slice(2, 5))
    torch_npu._npu_flash_attention_unpad(there(q), there(k), there(v), lengths, 0.3, 4, 2, out)
    near(out, np.concatenate([attention(q[p], k[p], v[p], 0.3) for p in parts]))
    mask = there(np.triu(np.full((8, 8), -10000.0), 1).astype(np.float32))
    expected = np.concatenate([attention(q[p], k[p], v[p], 0.3, causal(*[p.stop - p.start] * 2)) for p in parts])
    torch_npu._npu_flash_attention(there(q), there(k), there(v), mask, lengths, 0.3, 4, 2, out)
    near(out, expected)
    torch_npu._npu_flash_attention_v3(there(q), there(k), there(v), mask, lengths, 0.3, 4, 2, out=out)
    near(out, expected)
    with pytest.raises(RuntimeError, match="only supports MASK_TYPE_NORM_COMPRESS"):
        torch_npu._npu_flash_attention_v3(there(q), there(k), there(v), mask, lengths, 0.3, 4, 2, mask_type=1, out=out)


def test_attention_over_blocks_of_the_transformer_library(npu):
    keys, values = draw(7, 2, 6), draw(7, 2, 6, seed=1)
    caches = [there(np.zeros((4, 4, 2, 6), np.float32)) for _ in range(2)]
    slots = np.array([8, 9, 10, 11, 0, 4, 5], np.int32)  # sequence 0: blocks 2 and 0; sequence 1: block 1
    torch_npu._npu_reshape_and_cache(there(keys), there(values), *caches, there(slots))
    table, context = there(np.array([[2, 0], [1, 3]], np.int32)), mindtorch.tensor([5, 2], dtype=mindtorch.int32)
    q = draw(5, 4, 6, seed=2)
    out, lengths = there(np.zeros_like(q)), mindtorch.tensor([3, 2], dtype=mindtorch.int32)
    spans = ((slice(0, 3), slice(0, 5)), (slice(3, 5), slice(5, 7)))
    expected = np.concatenate(
        [attention(q[r], keys[c], values[c], 0.3, causal(r.stop - r.start, c.stop - c.start)) for r, c in spans]
    )
    mask = np.zeros((5, 8), np.float32)
    mask[:3, :5], mask[3:, :2] = causal(3, 5), causal(2, 2)
    torch_npu._npu_paged_attention_splitfuse(there(q), *caches, table, context, there(mask), lengths, 2, 4, 0.3, out)
    near(out, expected)
    out.zero_()
    torch_npu._npu_flash_attention_qlens(there(q), *caches, table, there(mask), lengths, context, 2, 4, 0.3, out)
    near(out, expected)
    found = torch_npu.npu_paged_cache_load(*caches, table, context)
    near(found[0], keys)
    near(found[1], values)


def test_small_operators_of_the_transformer_library(npu):
    x, y, c = draw(3, 4), draw(3, 5, seed=1), draw(4, 5, seed=2)
    total = there(c)
    torch_npu._npu_matmul_add_fp32(there(x), there(y), total)
    near(total, x.T.astype(float) @ y + c)
    scores = there(np.array([[1.0, 2, 5, 0, 3, 3]], np.float32))
    torch_npu._npu_group_topk(scores, 2, 3, 1)
    assert scores.tolist() == [[0, 0, 5, 0, 3, 3]]
    query, angles = draw(2, 8), np.arange(6).reshape(3, 2) * 0.3
    table, turned = there(np.concatenate([np.cos(angles), np.sin(angles)], 1).astype(np.float32)), there(query)
    torch_npu._npu_rotary_embedding(there(np.array([2, 1])), turned, there(query), 4, table, True)
    heads, cos, sin = query.reshape(2, 2, 2, 2), np.cos(angles[[2, 1]])[:, None], np.sin(angles[[2, 1]])[:, None]
    first, second = heads[:, :, 0], heads[:, :, 1]
    near(turned, np.stack([first * cos - second * sin, second * cos + first * sin], 2).reshape(2, 8))


def test_dtypes_and_codes_of_torch_npu(npu, monkeypatch):
    assert (torch_npu.hifloat8, torch_npu.float8_e5m2, torch_npu.float4_e2m1fn_x2) == (290, 291, 296)
    monkeypatch.delenv("TORCH_NPU_COMPACT_ERROR_OUTPUT", raising=False)
    line = _error_code.ops_error(_error_code.ErrCode.VALUE)
    assert re.fullmatch(r"\n\[ERROR\] [\d:-]+ \(PID:\d+, Device:-?\d+, RankID:-1\) ERR01003 OPS invalid value", line)
    monkeypatch.setenv("TORCH_NPU_COMPACT_ERROR_OUTPUT", "1")
    assert _error_code.pta_error(_error_code.ErrCode.ACL) == ""


def test_gradients_of_attention_from_its_weights(npu):
    q, k, v = (there(draw(2, 2, 3, 4, seed=seed)).requires_grad_() for seed in range(3))
    weights = mindtorch.softmax(q @ k.transpose(-2, -1) * 0.5, -1)
    grad = there(draw(6, 8, seed=4))
    made = (weights @ v).permute(0, 2, 1, 3).reshape(6, 8)
    expected = mindtorch.autograd.grad(made, (q, k, v), grad)
    given = (grad, weights.detach(), q.detach(), k.detach(), v.detach(), grad.new_empty(0, dtype=mindtorch.uint8))
    found = torch_npu.npu_fused_attention_score_grad(*given, 0.5, 1.0)
    for one, other in zip(found, expected, strict=True):
        near(one, back(other))


def test_masks_that_are_drawn_for_many_layers(npu):
    layer = torch_npu.contrib.module.NpuPreGenDropout(0.25)
    model = mindtorch.nn.Sequential(layer).npu()
    x = there(np.ones((64, 64), np.float32))
    with pytest.raises(RuntimeError, match="You Only Register prob"):
        layer(x)
    torch_npu.contrib.module.NpuPreGenDropout.enable_dropout_ensemble(model)
    first, second = model(x), model(x)
    assert first.cpu().unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert not mindtorch.equal(first.cpu(), second.cpu())
    assert 0.7 < float((first != 0).float().mean()) < 0.8
