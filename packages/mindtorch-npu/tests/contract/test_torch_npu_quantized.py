"""Operators and layers of torch_npu in eight bits."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402

from ..tensors import draw, near  # noqa: E402

F = mindtorch.nn.functional


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
