"""Operators of torch_npu for language models: caches of blocks, steps of decoding, losses, attention."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402

from ..tensors import draw, near  # noqa: E402

F = mindtorch.nn.functional


@pytest.mark.parametrize("mode", ["Norm", "PA_NZ"])
def test_caches_of_blocks(npu, mode):
    rows, slots = draw(3, 1, 4).npu(), mindtorch.tensor([5, -1, 0]).npu()
    shape = (3, 2, 1, 4) if mode == "Norm" else (3, 2, 2, 2)
    keys, values = mindtorch.zeros(shape).npu(), mindtorch.zeros(shape).npu()
    torch_npu.npu_scatter_pa_kv_cache(rows, 2 * rows, keys, values, slots, cache_mode=mode)
    assert near(values, 2 * keys)
    last = keys[2, 1] if mode == "Norm" else keys[2, :, 1]
    assert near(last.flatten(), rows[0].flatten())
    if mode == "Norm":
        tables, lengths = mindtorch.tensor([[2, 0], [0, 9]]).npu(), mindtorch.tensor([2, 1]).npu()
        out = mindtorch.zeros(3, 1, 4).npu()
        torch_npu.npu_gather_pa_kv_cache(keys, values, tables, lengths, out, mindtorch.zeros(3, 1, 4).npu())
        assert near(out[1:], rows[[0, 2]])


def test_a_step_of_decoding(npu):
    tokens, positions, lengths, slots = (mindtorch.tensor(one).npu() for one in ([9, 9], [0, 0], [3, 1], [0, 0]))
    tables, sampled = mindtorch.tensor([[4, 5], [6, 7]]).npu(), mindtorch.tensor([[7]]).npu()
    torch_npu.npu_advance_step_flashattn(tokens, sampled, positions, lengths, slots, tables, 2, 1, 2)
    assert [one.tolist() for one in (tokens, positions, lengths, slots)] == [[7, 0], [3, 0], [4, 1], [11, -1]]


def test_losses_over_a_part_of_the_vocabulary(npu):
    states, weight = draw(3, 4).npu(), draw(8, 4, seed=1).npu()
    target = mindtorch.tensor([0, 3, 9]).npu()
    found = torch_npu.npu_fused_linear_online_max_sum(states, weight, target, 0, 7, True)
    loss, chances = torch_npu.npu_fused_cross_entropy_loss_with_max_sum(*found[:3], vocab_parallel_logits=found[5])
    logits = states @ weight.t()
    assert near(loss[:2], F.cross_entropy(logits[:2], target[:2], reduction="none"))
    assert near(chances, logits.softmax(-1))
    assert found[3].tolist() == [0b00111111]


def test_attention_of_contrib(npu):
    own = torch_npu.contrib.module.MultiheadAttention(32, 4).npu()
    rows = draw(6, 32).npu()
    found, _ = own(rows, rows, rows, 2, 3, 3)
    parts = [one(rows).reshape(2, 3, 4, 8).transpose(1, 2) for one in (own.q_proj, own.k_proj, own.v_proj)]
    mixed = F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(6, 32)
    assert near(found, own.out_proj(mixed))
