"""Operators of torch_npu on parts of images: regions, deformed convolutions, crops."""

from __future__ import annotations

import numpy as np
import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch._vision import regions as vision  # noqa: E402

from ..tensors import draw, near  # noqa: E402

F = mindtorch.nn.functional


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
