"""`torchvision::*`: what torchvision's Python calls, the steps of gradients too; it registers those itself (from 0.28 on).

Importing this defines the operators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

import mindtorch as torch
from mindtorch.library import Library

from . import regions
from .deformable import Sampling

LIBRARY = Library("torchvision", "DEF")
_BOX = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_BACK = f"Tensor grad, Tensor rois, Tensor channel_mapping, {_BOX}"
_DEFORM = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, "
    "SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
)
SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_BOX}, int sampling_ratio, bool aligned) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
    f"int rois_zero_point, {_BOX}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_BOX}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool(Tensor input, Tensor rois, {_BOX}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_BOX}, {_SIZES}) -> Tensor",
    f"ps_roi_align(Tensor input, Tensor rois, {_BOX}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({_BACK}, int sampling_ratio, {_SIZES}) -> Tensor",
    f"ps_roi_pool(Tensor input, Tensor rois, {_BOX}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({_BACK}, {_SIZES}) -> Tensor",
    f"deform_conv2d({_DEFORM}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_DEFORM}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    "_cuda_version() -> int",
)
for _schema in SCHEMAS:
    LIBRARY.define(_schema)


def _array(tensor: Any) -> np.ndarray:
    """The numbers of a tensor, in a type that numpy computes with."""
    return (tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor).detach().numpy()


def _check(input: Any, rois: Any, name: str) -> None:
    torch._check(rois.dim() == 2 and rois.size(1) == 5, lambda: "Tensor rois should have shape as Tensor[K, 5]")
    torch._check(
        input.dtype == rois.dtype,
        lambda: (
            f"Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'rois' ({name})"
        ),
    )


def _impl(name: str, key: str = "CPU") -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        LIBRARY.impl(name, function, key)
        return function

    return register


@_impl("nms")
def _nms(dets: Any, scores: Any, iou_threshold: float) -> Any:
    torch._check(dets.dim() == 2, lambda: f"boxes should be a 2d tensor, got {dets.dim()}D")
    torch._check(dets.size(1) == 4, lambda: f"boxes should have 4 elements in dimension 1, got {dets.size(1)}")
    torch._check(scores.dim() == 1, lambda: f"scores should be a 1d tensor, got {scores.dim()}D")
    torch._check(
        dets.size(0) == scores.size(0),
        lambda: (
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{dets.size(0)} and {scores.size(0)}"
        ),
    )
    return torch.from_numpy(regions.nms(_array(dets), _array(scores), iou_threshold))


def _aligned(rois: Any, scale: float, pooled: tuple[int, int], ratio: int, aligned: bool, extent: Any) -> Any:
    least = -math.inf if aligned else 1.0
    return regions.aligned_regions(_array(rois), scale, pooled, ratio, aligned, extent, least)


@_impl("roi_align")
def _roi_align(
    input: Any, rois: Any, spatial_scale: float, ph: int, pw: int, sampling_ratio: int, aligned: bool
) -> Any:
    _check(input, rois, "roi_align_forward_kernel")
    image = _array(input)
    out = np.zeros((len(rois), image.shape[1], ph, pw), image.dtype)
    regions.roi_align(image, _aligned(rois, spatial_scale, (ph, pw), sampling_ratio, aligned, image.shape[2:]), out)
    return torch.from_numpy(out).to(input.dtype)


@_impl("_roi_align_backward")
def _roi_align_backward(
    grad: Any, rois: Any, scale: float, ph: int, pw: int, n: int, c: int, h: int, w: int, ratio: int, aligned: bool
) -> Any:
    out = np.zeros((n, c, h, w), _array(grad).dtype)
    regions.roi_align_backward(_array(grad), _aligned(rois, scale, (ph, pw), ratio, aligned, (h, w)), out)
    return torch.from_numpy(out).to(grad.dtype)


def _split(input: Any, rois: Any, ph: int, pw: int, name: str) -> tuple[np.ndarray, np.ndarray, Any]:
    """The image, the result of a pooling whose bins have channels of their own, and which channels."""
    _check(input, rois, name)
    torch._check(
        input.size(1) % (ph * pw) == 0, lambda: "input channels must be a multiple of pooling height * pooling width"
    )
    image, channels = _array(input), input.size(1) // (ph * pw)
    mapping = torch.from_numpy(regions.channel_mapping(len(rois), channels, (ph, pw)))
    return image, np.zeros((len(rois), channels, ph, pw), image.dtype), mapping


@_impl("ps_roi_align")
def _ps_roi_align(input: Any, rois: Any, scale: float, ph: int, pw: int, ratio: int) -> Any:
    image, out, mapping = _split(input, rois, ph, pw, "ps_roi_align_forward_kernel")
    regions.ps_roi_align(image, _aligned(rois, scale, (ph, pw), ratio, True, image.shape[2:]), out)
    return torch.from_numpy(out).to(input.dtype), mapping


@_impl("_ps_roi_align_backward")
def _ps_roi_align_backward(
    grad: Any, rois: Any, mapping: Any, scale: float, ph: int, pw: int, ratio: int, n: int, c: int, h: int, w: int
) -> Any:
    out = np.zeros((n, c, h, w), _array(grad).dtype)
    regions.ps_roi_align_backward(_array(grad), _aligned(rois, scale, (ph, pw), ratio, True, (h, w)), out)
    return torch.from_numpy(out).to(grad.dtype)


@_impl("ps_roi_pool")
def _ps_roi_pool(input: Any, rois: Any, scale: float, ph: int, pw: int) -> Any:
    image, out, mapping = _split(input, rois, ph, pw, "ps_roi_pool_forward_kernel")
    regions.ps_roi_pool(image, _array(rois), scale, out)
    return torch.from_numpy(out).to(input.dtype), mapping


@_impl("_ps_roi_pool_backward")
def _ps_roi_pool_backward(
    grad: Any, rois: Any, mapping: Any, scale: float, ph: int, pw: int, n: int, c: int, h: int, w: int
) -> Any:
    out = np.zeros((n, c, h, w), _array(grad).dtype)
    regions.ps_roi_pool_backward(_array(grad), _array(rois), scale, out)
    return torch.from_numpy(out).to(grad.dtype)


@_impl("roi_pool")
def _roi_pool(input: Any, rois: Any, scale: float, ph: int, pw: int) -> Any:
    _check(input, rois, "roi_pool_forward_kernel")
    image = _array(input)
    out = np.zeros((len(rois), image.shape[1], ph, pw), image.dtype)
    places = np.zeros(out.shape, np.int32)
    regions.roi_pool(image, _array(rois), scale, out, places)
    return torch.from_numpy(out).to(input.dtype), torch.from_numpy(places)


@_impl("_roi_pool_backward")
def _roi_pool_backward(
    grad: Any, rois: Any, argmax: Any, scale: float, ph: int, pw: int, n: int, c: int, h: int, w: int
) -> Any:
    out = np.zeros((n, c, h, w), _array(grad).dtype)
    regions.roi_pool_backward(_array(grad), _array(rois), _array(argmax), out)
    return torch.from_numpy(out).to(grad.dtype)


@_impl("deform_conv2d")
def _deform_conv2d(input: Any, weight: Any, offset: Any, mask: Any, bias: Any, *numbers: Any) -> Any:
    return Sampling(input, weight, offset, mask, *numbers).product(bias)


@_impl("_deform_conv2d_backward")
def _deform_conv2d_backward(
    grad: Any, input: Any, weight: Any, offset: Any, mask: Any, bias: Any, *numbers: Any
) -> Any:
    found = Sampling(input, weight, offset, mask, *numbers).gradients(grad)
    return (*found, grad.sum((0, 2, 3)))


@_impl("_cuda_version", "CompositeImplicitAutograd")
def _cuda_version() -> int:
    return -1


def _quantized(*args: Any) -> NoReturn:
    raise NotImplementedError("torchvision's operators on quantized tensors are not offered")


_impl("qnms")(_quantized)
_impl("qroi_align")(_quantized)
