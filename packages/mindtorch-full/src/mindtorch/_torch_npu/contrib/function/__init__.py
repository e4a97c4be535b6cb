"""`torch_npu.contrib.function`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import mindtorch as torch
from mindtorch._submodules import offer
from mindtorch._torch_npu.operators import npu_giou, npu_iou, npu_ptiou
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "dropout_with_byte_mask", "fuse_add_softmax_dropout", "matmul_transpose", "npu_batched_multiclass_nms",
    "npu_bbox_coder_decode_xywh2xyxy", "npu_bbox_coder_encode_xyxy2xywh", "npu_bbox_coder_encode_yolo",
    "npu_fast_condition_index_put", "npu_fused_attention", "npu_fused_attention_with_layernorm", "npu_giou", "npu_iou",
    "npu_multiclass_nms", "npu_ptiou", "npu_single_level_responsible_flags", "roll",
]  # fmt: skip


def matmul_transpose(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Return the product of the first with the second, whose last two dimensions change places."""
    return torch.matmul(tensor1, tensor2.transpose(-2, -1))


def npu_fast_condition_index_put(x: Tensor, condition: Tensor, value: float) -> Tensor:
    """Write a number where a condition holds, in place."""
    return x.masked_fill_(condition.bool(), value)


def fuse_add_softmax_dropout(
    training: bool,
    dropout: object,
    attn_mask: Tensor,
    attn_scores: Tensor,
    attn_head_size: float,
    p: float = 0.5,
    dim: int = -1,
) -> Tensor:
    """Return dropout of `softmax` of the scores times a factor, plus the mask."""
    probabilities = torch.softmax(torch.add(attn_mask, attn_scores, alpha=attn_head_size), dim)
    return torch.nn.functional.dropout(probabilities, p, training)


def dropout_with_byte_mask(input1: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Return the tensor with elements left out by chance."""
    return torch.nn.functional.dropout(input1, p, training, inplace)


def roll(inputs: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Return the tensor shifted around."""
    return torch.roll(inputs, shifts, dims)


def box_dtype_check(box: Tensor) -> Tensor:
    """Return boxes as float32 or float16."""
    return box if box.dtype in (torch.float32, torch.float16) else box.float()


def _pairs(bboxes: Tensor, others: Tensor, name: str) -> None:
    if bboxes.size(0) != others.size(0):
        raise ValueError(f"Expected bboxes.size(0) == {name}.size(0)")
    if not bboxes.size(-1) == others.size(-1) == 4:
        raise ValueError(f"Expected bboxes.size(-1) == {name}.size(-1) == 4")


def npu_bbox_coder_encode_yolo(bboxes: Tensor, gt_bboxes: Tensor, stride: Tensor) -> Tensor:
    """Return how true boxes differ from anchors as YOLO learns it."""
    _pairs(bboxes, gt_bboxes, "gt_bboxes")
    return torch.ops.npu.npu_yolo_boxes_encode(box_dtype_check(bboxes), box_dtype_check(gt_bboxes), stride.int(), False)


def npu_bbox_coder_encode_xyxy2xywh(
    bboxes: Tensor, gt_bboxes: Tensor, means: Sequence[float] | None = None, stds: Sequence[float] | None = None,
    is_normalized: bool = False, normalized_scale: float = 10000.0,
) -> Tensor:  # fmt: skip
    """Return how true boxes differ from others in place and size, less means, over deviations."""
    _pairs(bboxes, gt_bboxes, "gt_bboxes")
    scale = normalized_scale if is_normalized else 1.0
    given = [torch.mul(box_dtype_check(one), scale) for one in (bboxes, gt_bboxes)]
    return torch.ops.npu.npu_bounding_box_encode(*given, *(means or (0.0,) * 4), *(stds or (1.0,) * 4))


def npu_bbox_coder_decode_xywh2xyxy(
    bboxes: Tensor, pred_bboxes: Tensor, means: Sequence[float] | None = None, stds: Sequence[float] | None = None,
    max_shape: Sequence[int] | None = None, wh_ratio_clip: float = 16 / 1000,
) -> Tensor:  # fmt: skip
    """Return boxes of what `npu_bbox_coder_encode_xyxy2xywh` made, cut off at an image's edges."""
    _pairs(bboxes, pred_bboxes, "pred_bboxes")
    numbers = [*(means or (0.0,) * 4), *(stds or (1.0,) * 4)]
    given = box_dtype_check(bboxes), box_dtype_check(pred_bboxes)
    return torch.ops.npu.npu_bounding_box_decode(*given, *numbers, list(max_shape or (9999, 9999)), wh_ratio_clip)


def npu_single_level_responsible_flags(
    featmap_size: Sequence[int], gt_bboxes: Tensor, stride: Sequence[int], num_base_anchors: int
) -> Tensor:
    """Return for every anchor of a grid whether its cell has the centre of a box."""
    return torch.ops.npu.npu_anchor_response_flags(box_dtype_check(gt_bboxes), featmap_size, stride, num_base_anchors)


def npu_batched_multiclass_nms(
    multi_bboxes: Tensor, multi_scores: Tensor, score_thr: float = 0.05, nms_thr: float = 0.45, max_num: int = 50,
    score_factors: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the boxes that stay, with their scores, and their classes, for each image; the last class is background."""
    batch, count = multi_scores.shape[:2]
    scores = multi_scores[..., :-1] if score_factors is None else multi_scores[..., :-1] * score_factors[..., None]
    boxes = multi_bboxes.reshape(batch, count, multi_bboxes.numel() // 4 // count // batch, 4)
    found = torch.ops.npu.npu_batch_nms(boxes.half(), scores.half(), score_thr, nms_thr, max_num, max_num)
    return torch.cat([found[0], found[1].unsqueeze(-1)], -1), found[2]


def npu_multiclass_nms(
    multi_bboxes: Tensor, multi_scores: Tensor, score_thr: float = 0.05, nms_thr: float = 0.45, max_num: int = 50,
    score_factors: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_batched_multiclass_nms` of one image."""
    factors = None if score_factors is None else score_factors[None]
    boxes, classes = npu_batched_multiclass_nms(
        multi_bboxes[None], multi_scores[None], score_thr, nms_thr, max_num, factors
    )
    return boxes[0], classes[0]


def _check_fused(hidden_states: Tensor, attention_mask: Tensor, *kernels: Tensor) -> None:
    wrong = "fused attention check compatibility failed, shape of {} not matches"
    if hidden_states.dim() != 2 or hidden_states.shape[0] % 32 or hidden_states.shape[1] not in (1024, 768):
        raise RuntimeError(wrong.format("hidden_states"))
    shape = attention_mask.shape
    if len(shape) != 4 or shape[1] != 1 or shape[2] != shape[3]:
        raise RuntimeError(wrong.format("attention_mask"))
    if any(one.shape[0] not in (1024, 768) for one in kernels):
        raise RuntimeError(wrong.format("kernel"))


def npu_fused_attention(
    hidden_states: Tensor, attention_mask: Tensor, query_kernel: Tensor, key_kernel: Tensor, value_kernel: Tensor,
    query_bias: Tensor, key_bias: Tensor, value_bias: Tensor, scale: float = 1, keep_prob: float = 0,
) -> Tensor:  # fmt: skip
    """Return attention of heads of 64 of the rows of a batch, whose mask is added to the scaled scores."""
    _check_fused(hidden_states, attention_mask, query_kernel, key_kernel, value_kernel)
    batch = attention_mask.shape[0]
    shape = (batch, hidden_states.shape[0] // batch, -1, 64)
    layers = [
        torch.nn.functional.linear(hidden_states, kernel.t(), bias).reshape(shape).transpose(1, 2)
        for kernel, bias in ((query_kernel, query_bias), (key_kernel, key_bias), (value_kernel, value_bias))
    ]
    return torch.ops.npu.npu_fused_attention_score(*layers, attention_mask, scale, keep_prob)


def npu_fused_attention_with_layernorm(
    hidden_states: Tensor, attention_mask: Tensor, query_kernel: Tensor, key_kernel: Tensor, value_kernel: Tensor,
    query_bias: Tensor, key_bias: Tensor, value_bias: Tensor, gamma: Tensor, beta: Tensor, scale: float = 1,
    keep_prob: float = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_fused_attention` of the layer norm of the rows, and that."""
    warnings.warn(
        "torch_npu.contrib.npu_fused_attention_with_layernorm is deprecated and will be removed in a future version. "
        "Use torch_npu.npu_fusion_attention and torch.nn.LayerNorm instead.",
        FutureWarning,
        stacklevel=2,
    )
    norm = torch.nn.functional.layer_norm(hidden_states, gamma.shape, gamma, beta)
    kernels = (query_kernel, key_kernel, value_kernel, query_bias, key_bias, value_bias)
    return npu_fused_attention(norm, attention_mask, *kernels, scale, keep_prob), norm


offer(
    globals(),
    {
        "anchor_generator": {
            "box_dtype_check": box_dtype_check,
            "npu_single_level_responsible_flags": npu_single_level_responsible_flags,
        },
        "bbox_coder": ("npu_bbox_coder_decode_xywh2xyxy npu_bbox_coder_encode_xyxy2xywh npu_bbox_coder_encode_yolo"),
        "fuse_add_softmax_dropout": "fuse_add_softmax_dropout",
        "fused_attention": "npu_fused_attention npu_fused_attention_with_layernorm",
        "index_op": "npu_fast_condition_index_put",
        "iou": "npu_giou npu_iou npu_ptiou",
        "matmul_transpose": "matmul_transpose",
        "nms": "npu_batched_multiclass_nms npu_multiclass_nms",
        "npu_functional": "dropout_with_byte_mask",
        "roll": "roll",
    },
)
