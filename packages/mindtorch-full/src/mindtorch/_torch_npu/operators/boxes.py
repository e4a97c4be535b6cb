"""Boxes: how much they overlap, which of them stay, how they are written, under torch_npu's names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_anchor_response_flags", "npu_batch_nms", "npu_bounding_box_decode", "npu_bounding_box_encode", "npu_ciou",
    "npu_diou", "npu_giou", "npu_iou", "npu_nms_v4", "npu_nms_with_mask", "npu_ptiou", "npu_yolo_boxes_encode",
]  # fmt: skip

TINY = 1e-9


def overlap(first: Tensor, second: Tensor, mode: int = 0) -> Tensor:
    """Return how much boxes overlap, each of the first with each of the second: over their union or the first's area."""
    a, b = first[:, None], second[None]
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = (high - low).clamp(min=0).prod(-1)
    areas = [(one[..., 2:] - one[..., :2]).prod(-1) for one in (a, b)]
    return common / (areas[0] if mode else areas[0] + areas[1] - common).clamp(min=TINY)


@operator("npu_iou(Tensor bboxes, Tensor gtboxes, int mode=0) -> Tensor")
def npu_iou(bboxes: Tensor, gtboxes: Tensor, mode: int = 0) -> Tensor:
    """Return for each true box a row: how much it and each box overlap, over their union, or with 1 over the true one."""
    return overlap(gtboxes.float(), bboxes.float(), mode).to(bboxes.dtype)


npu_ptiou = operator("npu_ptiou(Tensor bboxes, Tensor gtboxes, int mode=0) -> Tensor")(npu_iou)


def _corners(boxes: Tensor, trans: bool) -> tuple[Tensor, ...]:
    """Return left, top, right and bottom of boxes that are columns; `trans` where they are centres and sizes."""
    if not trans:
        return boxes.unbind(0)
    x, y, width, height = boxes.unbind(0)
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _measures(first: Tensor, second: Tensor, trans: bool, is_cross: bool) -> dict[str, Tensor]:
    """Return what the measures of two sets of boxes are made of: pair by pair, or each with each."""
    x1, y1, x2, y2 = (one.unsqueeze(1) if is_cross else one for one in _corners(first, trans))
    u1, v1, u2, v2 = (one.unsqueeze(0) if is_cross else one for one in _corners(second, trans))
    width = torch.minimum(x2, u2) - torch.maximum(x1, u1)
    height = torch.minimum(y2, v2) - torch.maximum(y1, v1)
    outer = torch.maximum(x2, u2) - torch.minimum(x1, u1), torch.maximum(y2, v2) - torch.minimum(y1, v1)
    return {
        "common": width.clamp(min=0) * height.clamp(min=0),
        "areas": (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1),
        "outer": outer[0] * outer[1],
        "diagonal": outer[0] ** 2 + outer[1] ** 2 + TINY,
        "distance": ((u1 + u2 - x1 - x2) ** 2 + (v1 + v2 - y1 - y2) ** 2) / 4,
        "slant": torch.atan((u2 - u1) / (v2 - v1 + TINY)) - torch.atan((x2 - x1) / (y2 - y1 + TINY)),
    }


def _only_unions(name: str, mode: int) -> None:
    if mode:
        raise NotImplementedError(f"torch_npu.{name}: only mode 0 is supported")


@operator("npu_giou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=False, int mode=0) -> Tensor")
def npu_giou(self: Tensor, gtboxes: Tensor, trans: bool = False, is_cross: bool = False, mode: int = 0) -> Tensor:
    """Return the generalised overlap of boxes that are columns, in a column, or each with each."""
    _only_unions("npu_giou", mode)
    found = _measures(self, gtboxes, trans, is_cross)
    union = found["areas"] - found["common"] + 1e-16
    made = found["common"] / union - (found["outer"] - union) / found["outer"]
    return made if is_cross else made.unsqueeze(1)


@operator("npu_diou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=False, int mode=0) -> Tensor")
def npu_diou(self: Tensor, gtboxes: Tensor, trans: bool = False, is_cross: bool = False, mode: int = 0) -> Tensor:
    """Return the overlap of boxes that are columns less how far apart their centres are, in a row, or each with each."""
    _only_unions("npu_diou", mode)
    found = _measures(self, gtboxes, trans, is_cross)
    made = found["common"] / (found["areas"] - found["common"] + TINY) - found["distance"] / found["diagonal"]
    return made if is_cross else made.unsqueeze(0)


@operator(
    "npu_ciou(Tensor self, Tensor gtboxes, bool trans=False, bool is_cross=True, int mode=0, bool atan_sub_flag=False) "
    "-> Tensor"
)
def npu_ciou(
    self: Tensor,
    gtboxes: Tensor,
    trans: bool = False,
    is_cross: bool = True,
    mode: int = 0,
    atan_sub_flag: bool = False,
) -> Tensor:
    """Return `npu_diou` less how much the boxes' sides differ in proportion. torch_npu has it pair by pair only."""
    _only_unions("npu_ciou", mode)
    if is_cross:
        raise RuntimeError("The is_cross of npu_ciou is supported only when it is False")
    found = _measures(self, gtboxes, trans, is_cross)
    iou = found["common"] / (found["areas"] - found["common"] + TINY)
    slant = 4 / math.pi**2 * found["slant"] ** 2
    with torch.no_grad():
        weight = slant / (1 + TINY - iou + slant)
    return (iou - found["distance"] / found["diagonal"] - slant * weight).unsqueeze(0)


def _stay(boxes: Tensor, threshold: float) -> Tensor:
    """Return which of boxes, best first, no better one that stays covers."""
    pairs = torch.gt(overlap(boxes, boxes), threshold)
    stays = torch.ones(boxes.shape[0], dtype=torch.bool, device=boxes.device)
    behind = torch.arange(boxes.shape[0], device=boxes.device)
    for place in range(boxes.shape[0]):
        stays = stays & ~(pairs[place] & stays[place] & (behind > place))
    return stays


@operator("npu_nms_with_mask(Tensor input, Scalar iou_threshold) -> (Tensor, Tensor, Tensor)")
def npu_nms_with_mask(input: Tensor, iou_threshold: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return boxes with scores, best first, their numbers, and a mask of those that stay."""
    count = input.shape[0]
    stays = _stay(input[:, :4].float(), float(iou_threshold))
    return input, torch.arange(count, dtype=torch.int32, device=input.device), stays.to(torch.uint8)


@operator(
    "npu_nms_v4(Tensor self, Tensor scores, Scalar max_output_size, Tensor iou_threshold, Tensor scores_threshold, "
    "bool pad_to_max_output_size=False) -> (Tensor, Tensor)"
)
def npu_nms_v4(
    self: Tensor, scores: Tensor, max_output_size: int, iou_threshold: Tensor, scores_threshold: Tensor,
    pad_to_max_output_size: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the numbers of boxes that stay, best first, padded with zeros where that is asked for, and how many."""
    ordered, order = scores.sort(descending=True, stable=True)
    wanted = ordered > scores_threshold
    order = order[wanted]
    kept = order[_stay(self[order].float(), float(iou_threshold))][: int(max_output_size)].to(torch.int32)
    count = torch.tensor(kept.numel(), dtype=torch.int32, device=self.device)
    if pad_to_max_output_size:
        kept = torch.cat((kept, kept.new_zeros(int(max_output_size) - kept.numel())))
    return kept, count


def _best_of_class(boxes: Tensor, scores: Tensor, least: float, threshold: float, most: int) -> Tensor:
    order = scores.sort(descending=True, stable=True)[1]
    order = order[scores[order] > least]
    return order[_stay(boxes[order].float(), threshold)][:most]


@operator(
    "npu_batch_nms(Tensor self, Tensor scores, float score_threshold, float iou_threshold, int max_size_per_class, "
    "int max_total_size, bool change_coordinate_frame=False, bool transpose_box=False) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_batch_nms(
    self: Tensor, scores: Tensor, score_threshold: float, iou_threshold: float, max_size_per_class: int,
    max_total_size: int, change_coordinate_frame: bool = False, transpose_box: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return for each image the boxes that stay, class by class, their scores, classes and how many, zeros behind them."""
    if change_coordinate_frame or transpose_box:
        raise NotImplementedError("torch_npu.npu_batch_nms: only plain boxes are supported")
    count, _, classes = scores.shape
    boxes_out, scores_out = self.new_zeros(count, max_total_size, 4), self.new_zeros(count, max_total_size)
    classes_out, numbers = self.new_zeros(count, max_total_size), []
    for image in range(count):
        places, kinds = [], []
        for kind in range(classes):
            own = self[image, :, min(kind, self.shape[2] - 1)]
            one = _best_of_class(own, scores[image, :, kind], score_threshold, iou_threshold, max_size_per_class)
            places.append(one)
            kinds.append(torch.full_like(one, kind))
        place, label = torch.cat(places), torch.cat(kinds)
        order = scores[image, place, label].sort(descending=True, stable=True)[1][:max_total_size]
        place, label, found = place[order], label[order], order.numel()
        boxes_out[image, :found] = self[image, place, label.clamp(max=self.shape[2] - 1)]
        scores_out[image, :found], classes_out[image, :found] = scores[image, place, label], label.to(self.dtype)
        numbers.append(found)
    return boxes_out, scores_out, classes_out, torch.tensor(numbers, dtype=torch.int32, device=self.device)


_NUMBERS = "float means0, float means1, float means2, float means3, float stds0, float stds1, float stds2, float stds3"


def _centres(boxes: Tensor) -> tuple[Tensor, ...]:
    left, top, right, bottom = boxes.unbind(-1)
    return (left + right) * 0.5, (top + bottom) * 0.5, right - left + 1, bottom - top + 1


@operator(f"npu_bounding_box_encode(Tensor anchor_box, Tensor ground_truth_box, {_NUMBERS}) -> Tensor")
def npu_bounding_box_encode(
    anchor_box: Tensor, ground_truth_box: Tensor, means0: float, means1: float, means2: float, means3: float,
    stds0: float, stds1: float, stds2: float, stds3: float,
) -> Tensor:  # fmt: skip
    """Return how true boxes differ from anchors in place and, as logarithms, in size, less means, over deviations."""
    x, y, width, height = _centres(anchor_box.float())
    u, v, wide, high = _centres(ground_truth_box.float())
    deltas = torch.stack(((u - x) / width, (v - y) / height, (wide / width).log(), (high / height).log()), -1)
    means, deviations = (
        deltas.new_tensor([means0, means1, means2, means3]),
        deltas.new_tensor([stds0, stds1, stds2, stds3]),
    )
    return ((deltas - means) / deviations).to(anchor_box.dtype)


@operator(
    f"npu_bounding_box_decode(Tensor rois, Tensor deltas, {_NUMBERS}, int[] max_shape, float wh_ratio_clip) -> Tensor"
)
def npu_bounding_box_decode(
    rois: Tensor, deltas: Tensor, means0: float, means1: float, means2: float, means3: float, stds0: float, stds1: float,
    stds2: float, stds3: float, max_shape: Sequence[int], wh_ratio_clip: float,
) -> Tensor:  # fmt: skip
    """Return boxes that differ from others by what `npu_bounding_box_encode` says, cut off at an image's edges."""
    means, deviations = [means0, means1, means2, means3], [stds0, stds1, stds2, stds3]
    scaled = deltas.float() * deltas.new_tensor(deviations).float() + deltas.new_tensor(means).float()
    dx, dy, dw, dh = scaled.unbind(-1)
    limit = abs(math.log(wh_ratio_clip))
    x, y, width, height = _centres(rois.float())
    wide, high = width * dw.clamp(-limit, limit).exp(), height * dh.clamp(-limit, limit).exp()
    u, v = x + width * dx, y + height * dy
    ends = max_shape[0] - 1, max_shape[1] - 1
    corners = (u - wide * 0.5 + 0.5, v - high * 0.5 + 0.5, u + wide * 0.5 - 0.5, v + high * 0.5 - 0.5)
    made = [one.clamp(0, ends[1 - place % 2]) for place, one in enumerate(corners)]
    return torch.stack(made, -1).to(rois.dtype)


@operator("npu_anchor_response_flags(Tensor self, int[2] featmap_size, int[2] stride, int num_base_anchors) -> Tensor")
def npu_anchor_response_flags(
    self: Tensor, featmap_size: Sequence[int], stride: Sequence[int], num_base_anchors: int
) -> Tensor:
    """Return for every anchor of a grid whether its cell has the centre of a box."""
    boxes = self.float()
    column = ((boxes[:, 0] + boxes[:, 2]) * 0.5 / stride[0]).floor().long()
    row = ((boxes[:, 1] + boxes[:, 3]) * 0.5 / stride[1]).floor().long()
    place = row * featmap_size[1] + column
    cells = torch.zeros(featmap_size[0] * featmap_size[1], dtype=torch.uint8, device=self.device)
    inside = place[(place >= 0) & (place < cells.numel())]
    return cells.index_fill(0, inside, 1).repeat_interleave(num_base_anchors)


@operator("npu_yolo_boxes_encode(Tensor self, Tensor gt_bboxes, Tensor stride, bool performance_mode=False) -> Tensor")
def npu_yolo_boxes_encode(self: Tensor, gt_bboxes: Tensor, stride: Tensor, performance_mode: bool = False) -> Tensor:
    """Return how true boxes differ from anchors as YOLO learns it: places in a cell of `stride`, logarithms of sizes."""
    low, high = self.float().chunk(2, -1)
    true_low, true_high = gt_bboxes.float().chunk(2, -1)
    small = 1e-6
    size, true_size = high - low, true_high - true_low
    place = ((true_low + true_high - low - high) * 0.5 / stride.unsqueeze(-1) + 0.5).clamp(small, 1 - small)
    return torch.cat((place, (true_size / size).clamp(min=small).log()), -1).to(self.dtype)
