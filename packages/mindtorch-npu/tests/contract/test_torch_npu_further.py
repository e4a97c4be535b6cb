"""Further names of torch_npu: gradients, regions, caches, quantised layers, and those that are there and raise."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch._torch_npu._absent import reasons  # noqa: E402
from mindtorch._vision import regions as vision  # noqa: E402

F = mindtorch.nn.functional


def draw(*shape, seed=0):
    return mindtorch.randn(shape, generator=mindtorch.Generator().manual_seed(seed))


def near(found, expected, atol=1e-5):
    return mindtorch.allclose(found.detach().cpu(), expected.detach().cpu(), atol=atol)


X, G = draw(2, 4, 6), draw(2, 4, 3, seed=1)


def own_gradient(function, given, cotangent):
    leaf = given.clone().requires_grad_()
    return mindtorch.autograd.grad(function(leaf), leaf, cotangent)[0]


GRADIENTS = {
    "npu_geglu_grad": (
        (G, X, G),
        lambda: own_gradient(lambda x: x[..., :3] * F.gelu(x[..., 3:], approximate="tanh"), X, G),
    ),
    "npu_layernorm_grad": (
        (X, X, (6,), X.mean(-1, keepdim=True), X.var(-1, correction=0, keepdim=True).add(1e-5).rsqrt(), None, None),
        lambda: own_gradient(lambda x: F.layer_norm(x, (6,)), X, X),
    ),
    "repeat_interleave_backward_int": ((X, X[:, :2], 2, 1), lambda: X[:, ::2] + X[:, 1::2]),
    "repeat_interleave_backward_tensor": (
        (X[0, 0], X[0, 0, :3], mindtorch.tensor([1, 2, 3])),
        lambda: mindtorch.stack([X[0, 0, :1].sum(), X[0, 0, 1:3].sum(), X[0, 0, 3:].sum()]),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(npu, name):
    given, expected = GRADIENTS[name]
    found = getattr(torch_npu, name)(*(one.npu() if isinstance(one, mindtorch.Tensor) else one for one in given))
    assert near(found[0] if isinstance(found, tuple) else found, expected())


def test_gradients_of_group_norms(npu):
    x, weight, bias = (one.npu().requires_grad_() for one in (draw(2, 4, 3), draw(4, seed=1), draw(4, seed=2)))
    cotangent = draw(2, 4, 3, seed=3).npu()
    out, mean, rstd = torch_npu.npu_group_norm_swish(x, 2, weight, bias)
    expected = mindtorch.autograd.grad(out, (x, weight, bias), cotangent)
    given = (one.detach() for one in (x, weight, bias, mean, rstd))
    first, *rest = given
    found = torch_npu.npu_group_norm_swish_grad(cotangent, first, 2, *rest, [True, True, True])
    assert all(near(one, other) for one, other in zip(found, expected, strict=True))


def test_gradients_of_experts(npu):
    tokens, experts = draw(3, 4).npu(), mindtorch.tensor([[1, 0], [0, 2], [2, 1]]).npu()
    moved, places = torch_npu.npu_moe_token_permute(tokens, experts)
    found = torch_npu.npu_moe_token_permute_grad(tokens, mindtorch.ones_like(moved), experts, places)
    assert near(found, mindtorch.full((3, 4), 2.0))
    weights, cotangent = draw(3, 2, seed=1).npu(), draw(3, 4, seed=2).npu()
    to_moved, to_weights = torch_npu.npu_moe_token_unpermute_grad(moved, cotangent, places, weights)
    rows, each = moved[places.long()].reshape(3, 2, 4), cotangent.unsqueeze(1)
    assert near(to_weights, (rows * each).sum(-1))
    assert near(to_moved[places.long()].reshape(3, 2, 4), each * weights.unsqueeze(-1))


@pytest.mark.parametrize(("mode", "aligned"), [(0, False), (3, True)])
@pytest.mark.parametrize("samples", [0, 2])
def test_regions(npu, mode, aligned, samples):
    image, rois = draw(2, 3, 9, 8), mindtorch.tensor([[0, 1.0, 1, 6, 7], [1, 0, 0, 3, 4.5]])
    expected = np.zeros((2, 3, 4, 5), np.float32)
    parts = vision.aligned_regions(rois.numpy(), 0.5, (4, 5), samples, aligned, (9, 8), 0.0 if aligned else 1.0)
    vision.roi_align(image.numpy(), parts, expected)
    found = torch_npu.npu_roi_align(image.npu(), rois.npu(), 0.5, 4, 5, samples, mode)
    assert np.allclose(found.cpu().numpy(), expected, atol=1e-5)
    grad = torch_npu.npu_roi_alignbk(mindtorch.ones_like(found), rois.npu(), image.shape, 5, 4, 0.5, samples, mode)
    assert float(grad.sum()) == pytest.approx(2 * 3 * 4 * 5, rel=1e-4)
    with pytest.raises(NotImplementedError, match="roi_end_mode 1"):
        torch_npu.npu_roi_align(image, rois, 0.5, 4, 5, 2, 1)


def test_deformed_convolutions(npu):
    layer = torch_npu.contrib.module.ModulatedDeformConv(4, 6, 3, 1, 1).npu()
    image = draw(2, 4, 5, 5).npu().requires_grad_()
    out = layer(image)
    assert near(out, F.conv2d(image, layer.weight, layer.bias, padding=1) * 0.5)
    out.sum().backward()
    assert float(layer.conv_offset.weight.grad.abs().sum()) > 0
    shifted = mindtorch.zeros(2, 3, 5, 5)
    shifted[:, 0], shifted[:, 2] = 1.0, 1.0
    one = mindtorch.ones(1, 4, 1, 1)
    moved, _ = torch_npu.npu_deformable_conv2d(image.detach().cpu(), one, shifted, None, [1, 1], [1] * 4, [0] * 4)
    assert near(moved[..., :-1], image.sum(1, keepdim=True)[..., 1:])
    assert float(moved[..., -1].abs().sum()) == 0.0


def test_crops_are_cut_and_resized(npu):
    image = draw(2, 3, 4, 4)
    found = torch_npu.crop_and_resize(image.npu(), [0, 0, 1, 1, -1, 0, 1, 1], [1, 0], [4, 4])
    assert near(found[0], image[1])
    assert float(found[1, :, 0].abs().sum()) == 0.0
    chosen, there = torch_npu.npu_random_choice_with_mask(mindtorch.tensor([True, False, True]).npu(), 3, 1, 0)
    assert sorted(chosen[:2].flatten().tolist()) == [0, 2]
    assert there.tolist() == [True, True, False]


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


def test_eight_bits(npu):
    x = draw(4, 300).npu()
    small, scale = torch_npu.npu_dynamic_block_quant(x, row_block_size=2)
    wide = scale.repeat_interleave(2, 0).repeat_interleave(128, 1)[:, :300]
    assert near(small.float() * wide, x, atol=float(scale.max()))
    gamma = mindtorch.ones(300).npu()
    first, _, total, sizes, _ = torch_npu.npu_add_rms_norm_dynamic_quant(x, x, gamma)
    assert near(first.float() * sizes.unsqueeze(-1), F.rms_norm(x + x, (300,)), atol=float(sizes.max()))
    assert near(total, 2 * x)


def test_rows_of_zeros_are_zeros_in_eight_bits(npu):
    x = mindtorch.cat([mindtorch.zeros(1, 8), draw(1, 8)]).npu()
    for made, scale in (
        torch_npu.npu_dynamic_quant(x),
        torch_npu.npu_swiglu_quant(mindtorch.cat([x, x], -1), quant_mode=1),
        torch_npu.npu_gelu_quant(x),
        torch_npu.npu_add_rms_norm_dynamic_quant(x, x, mindtorch.ones(8).npu())[::3],
    ):
        assert made[0].tolist() == [0] * 8
        assert scale.shape == (2,)
        assert scale[0].item() == 0
        assert made[1].abs().max().item() == 127


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_of_eight_bits_are_exact(npu, groups):
    image = mindtorch.full((1, 2048 * groups, 1, 1), 127, dtype=mindtorch.int8)
    image[0, 0] = 126
    weight = mindtorch.full((groups, 2048, 1, 1), 127, dtype=mindtorch.int8)
    weight[0, 0] = 125
    bias = mindtorch.full((groups,), -127 * (127 * 2047), dtype=mindtorch.int32)
    scale, options = mindtorch.ones(groups).npu(), {"bias": bias.npu(), "groups": groups}
    made = torch_npu.npu_quant_conv2d(image.npu(), weight.npu(), scale, **options, output_dtype=mindtorch.bfloat16)
    expected = mindtorch.tensor([126.0 * 125, 127 * 127][:groups]).bfloat16()
    assert made.flatten().tolist() == expected.tolist()


def test_arguments_that_are_not_computed_with_raise(npu):
    rows, weight, more = draw(2, 4).npu(), mindtorch.ones(3, 4, dtype=mindtorch.int8).npu(), draw(3).npu()
    with pytest.raises(NotImplementedError, match="npu_quant_matmul_dequant: bias is not supported"):
        torch_npu.npu_quant_matmul_dequant(rows, weight, more, bias=more)
    zero = [mindtorch.zeros(1).npu()]
    with pytest.raises(NotImplementedError, match="npu_grouped_matmul: offset is not supported"):
        torch_npu.npu_grouped_matmul([rows], [draw(4, 3).npu()], offset=zero)


def test_quantised_layers(npu):
    layers = torch_npu.contrib.module
    linear = layers.LinearQuant(16, 8, output_dtype=mindtorch.float16).npu()
    whole = mindtorch.arange(128).remainder(11).sub(5).to(mindtorch.int8).reshape(8, 16)
    linear.weight.data, linear.scale.data = whole.npu(), mindtorch.full((8,), 0.5).npu()
    linear.bias.data = mindtorch.ones(8, dtype=mindtorch.int32).npu()
    assert near(linear(whole.npu()).float(), (whole.float() @ whole.float().t() + 1) * 0.5)
    with pytest.raises(ValueError, match=r"input and weight should be both torch\.int32 or both torch\.int8"):
        linear(whole.float().npu())
    layer = layers.QuantConv2d(2, 4, 2, mindtorch.float16, bias=False).npu()
    layer.weight.data, layer.scale.data = whole[:, :4].reshape(4, 2, 2, 2).npu(), mindtorch.full((4,), 0.5).npu()
    image = whole.reshape(2, 2, 4, 8)
    expected = F.conv2d(image.float(), layer.weight.cpu().float()) * 0.5
    assert near(layer(image.npu()).float(), expected)


def test_attention_of_contrib(npu):
    own = torch_npu.contrib.module.MultiheadAttention(32, 4).npu()
    rows = draw(6, 32).npu()
    found, _ = own(rows, rows, rows, 2, 3, 3)
    parts = [one(rows).reshape(2, 3, 4, 8).transpose(1, 2) for one in (own.q_proj, own.k_proj, own.v_proj)]
    mixed = F.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(6, 32)
    assert near(found, own.out_proj(mixed))


def test_memory_of_tensors_becomes_a_part_of_anothers(npu):
    tensors = [draw(2, 3).npu(), draw(4, seed=1).npu()]
    kept = [one.clone() for one in tensors]
    whole = torch_npu.utils.npu_combine_tensors(tensors)
    assert [torch_npu.get_storage_size(one) for one in (*tensors, whole)] == [6, 4, 10]
    assert tensors[1].data_ptr() == whole.data_ptr() + 6 * 4
    assert all(near(one, other) for one, other in zip(tensors, kept, strict=True))
    with pytest.raises(RuntimeError, match="4 elements from 7 on are not in 10"):
        torch_npu.npu_change_data_ptr(tensors[1], whole, 7)


def test_absent_names_say_why(npu):
    for name, reason in reasons()["torch_npu"].items():
        value = getattr(torch_npu, name)
        with pytest.raises(NotImplementedError) as caught:
            value()
        assert str(caught.value) == f"torch_npu.{name}: {reason}"
        if name.islower():
            assert getattr(mindtorch.ops.npu, name) is value or callable(getattr(mindtorch.ops.npu, name))
    with pytest.raises(AttributeError, match="module 'torch_npu' has no attribute 'never'"):
        torch_npu.never


def test_names_below_are_imported(npu):
    code = (
        "import torch_npu\n"
        "from torch_npu.profiler.scheduler import Schedule\n"
        "from torch_npu.profiler.experimental_config import _ExperimentalConfig\n"
        "from torch_npu.distributed import is_available, is_hccl_available\n"
        "from torch_npu.distributed.fsdp import fully_shard\n"
        "from torch_npu.contrib.module.roi_align import ROIAlign\n"
        "print(Schedule(1, 1, 1)(2), is_available(), is_hccl_available())\n"
        "print(torch_npu._C._empty_strided_npu((2, 3), (3, 1), torch_npu.npu.FloatTensor.dtype).stride())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch", "-c", code],
        capture_output=True, text=True, env={"MINDTORCH_NPU_SIMULATOR": "Ascend910B3:1,memory=64MiB"},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["ProfilerAction.RECORD_AND_SAVE True True", "(3, 1)"], done.stderr[-800:]
