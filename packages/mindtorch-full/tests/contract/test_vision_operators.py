"""The operators of torchvision, against numbers that torchvision's compiled library gave (0.28.0 on torch 2.13.0).

Its registry wheel is compiled for CUDA and does not load beside a torch without it, so the numbers are recorded: of every
result the sum, and the sum weighted by cosines.
"""

import pytest

import mindtorch as mt
from mindtorch._vision import operators

EXPECTED = {
    "nms": [1087.0, -60.90915791009783],
    "roi_align -1": [1293.6732418313622, 2.3876893243353705],
    "roi_align -1 backward": [1293.6732420092449, 4.961467755297981],
    "ps_roi_align -1": [339.5991927087307, 10.666870661110341],
    "mapping": [1836.0, -12.765659663984763],
    "ps_roi_align -1 backward": [87.03221859673431, 1.301306170558414],
    "roi_align 2": [1285.6104888916016, -2.409418191394239],
    "roi_align 2 backward": [1285.6104884647066, -7.3177569091979455],
    "ps_roi_align 2": [107.10642684996128, -0.613021544652425],
    "ps_roi_align 2 backward": [107.10642657274002, -0.5971263054586318],
    "roi_pool": [1668.8041118979454, 1.3855695073017391],
    "roi_pool places": [233270.0, -36.09134596860585],
    "roi_pool backward": [1668.8041080236435, -70.97156119830024],
    "ps_roi_pool": [103.18808522820473, -0.20889743434326835],
    "ps_roi_pool places": [1836.0, -12.765659663984763],
    "ps_roi_pool backward": [103.1880853716284, 0.30438531589261086],
    "deform_conv2d True": [712.443973749876, 3.462205368170399],
    "deform_conv2d True 0": [2489.6746048033237, -6.133164294664753],
    "deform_conv2d True 1": [2595.1957969665527, 64.1613812929752],
    "deform_conv2d True 2": [-80.08689955163572, -30.882599556317334],
    "deform_conv2d True 3": [2378.0379943891894, 6.018113711510059],
    "deform_conv2d True 4": [712.4440002441406, 38.4376164859421],
    "deform_conv2d False": [1221.7194769978523, 11.264915429450943],
    "deform_conv2d False 0": [8259.984905719757, -33.133315228908735],
    "deform_conv2d False 1": [8473.101219177246, 134.1549876426635],
    "deform_conv2d False 2": [-153.8904228832107, -6.408712800056314],
    "deform_conv2d False 3": [0.0, 0.0],
    "deform_conv2d False 4": [1221.7195129394531, 43.96067361336867],
}


def scenario(T):
    """The results by name."""
    call = T.ops.torchvision
    chance = T.Generator().manual_seed(0)

    def random(*shape):
        return T.rand(*shape, generator=chance)

    boxes = random(60, 4) * 20
    boxes[:, 2:] += boxes[:, :2]
    found = {"nms": call.nms(boxes, random(60), 0.3)}
    rois = T.cat([(T.arange(12) % 2).float()[:, None], random(12, 2) * 14 - 2, random(12, 2) * 20], 1)
    rois[:, 3:] = T.maximum(rois[:, 3:], rois[:, 1:3] - 0.5)
    image = random(2, 18, 16, 15)
    size = (2, 18, 16, 15)
    for ratio, aligned in ((-1, False), (2, True)):
        found[f"roi_align {ratio}"] = made = call.roi_align(image, rois, 0.7, 3, 4, ratio, aligned)
        found[f"roi_align {ratio} backward"] = call._roi_align_backward(made, rois, 0.7, 3, 4, *size, ratio, aligned)
        made, mapping = call.ps_roi_align(image, rois, 0.8, 3, 3, ratio)
        found[f"ps_roi_align {ratio}"], found["mapping"] = made, mapping
        found[f"ps_roi_align {ratio} backward"] = call._ps_roi_align_backward(
            made.nan_to_num(), rois, mapping, 0.8, 3, 3, ratio, *size
        )
    for name in ("roi_pool", "ps_roi_pool"):
        made, second = getattr(call, name)(image, rois, 0.8, 3, 3)
        found[name], found[f"{name} places"] = made, second
        found[f"{name} backward"] = getattr(call, f"_{name}_backward")(made, rois, second, 0.8, 3, 3, *size)
    numbers = (1, 2, 1, 1, 1, 1, 2, 3)
    tensors = (random(2, 6, 9, 8), random(4, 3, 3, 2), (random(2, 36, 9, 5) - 0.5) * 4, random(2, 18, 9, 5), random(4))
    for use_mask in (True, False):
        found[f"deform_conv2d {use_mask}"] = made = call.deform_conv2d(*tensors, *numbers, use_mask)
        grads = call._deform_conv2d_backward(made, *tensors, *numbers, use_mask)
        found.update((f"deform_conv2d {use_mask} {place}", grad) for place, grad in enumerate(grads))
    return {name: summary(T, value.double().flatten().nan_to_num(7.0)) for name, value in found.items()}


def summary(T, values):
    return [values.sum().item(), (values * T.arange(len(values)).double().cos()).sum().item()]


@pytest.fixture(scope="module")
def results():
    assert operators.LIBRARY.ns == "torchvision"
    return scenario(mt)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_numbers_are_torchvisions(name, results):
    assert results[name] == pytest.approx(EXPECTED[name], rel=2e-6, abs=2e-5)


def test_wrong_boxes_are_refused():
    with pytest.raises(RuntimeError, match="boxes should be a 2d tensor, got 1D"):
        mt.ops.torchvision.nms(mt.ones(4), mt.ones(1), 0.5)
    with pytest.raises(RuntimeError, match=r"rois should have shape as Tensor\[K, 5\]"):
        mt.ops.torchvision.roi_pool(mt.ones(1, 1, 4, 4), mt.ones(1, 4), 1.0, 2, 2)
    with pytest.raises(NotImplementedError, match="quantized"):
        mt.ops.torchvision.qnms(mt.ones(1, 4), mt.ones(1), 0.5)
