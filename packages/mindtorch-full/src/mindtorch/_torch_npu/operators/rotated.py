"""Boxes that are turned by an angle, and what detection makes of grids and ranges, under torch_npu's names."""

from __future__ import annotations

import math

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "batch_norm_gather_stats_update", "npu_grid_assign_positive", "npu_masked_fill_range", "npu_nms_rotated",
    "npu_normalize_batch", "npu_rotated_box_decode", "npu_rotated_box_encode", "npu_rotated_iou", "npu_rotated_overlaps",
]  # fmt: skip

_EPSILON = 1e-6
"""How far outside of a box a point may lie that still counts as on its edge, in float32."""


def _middles(boxes: Tensor, corners: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return centre, size and angle in radians of boxes given as that, or by two corners."""
    a, b, c, d, angle = boxes.float().unbind(-1)
    if corners:
        a, b, c, d = (a + c) * 0.5, (b + d) * 0.5, c - a, d - b
    return a, b, c, d, angle * (math.pi / 180)


def _corners(boxes: Tensor, corners: bool) -> tuple[Tensor, Tensor]:
    """Return x and y of the four corners, one after the other around the box."""
    x, y, width, height, angle = _middles(boxes, corners)
    across = torch.stack((-width, width, width, -width), -1) * 0.5
    down = torch.stack((-height, -height, height, height), -1) * 0.5
    cos, sin = angle.cos().unsqueeze(-1), angle.sin().unsqueeze(-1)
    return x.unsqueeze(-1) + across * cos - down * sin, y.unsqueeze(-1) + across * sin + down * cos


def _inside(points: tuple[Tensor, Tensor], box: tuple[Tensor, ...]) -> Tensor:
    """Return which points lie in a box, edges included."""
    x, y, width, height, angle = (one.unsqueeze(-1) for one in box)
    dx, dy = points[0] - x, points[1] - y
    across, down = dx * angle.cos() + dy * angle.sin(), dy * angle.cos() - dx * angle.sin()
    reach = _EPSILON * (1 + width + height)
    return (across.abs() <= width * 0.5 + reach) & (down.abs() <= height * 0.5 + reach)


def _crossings(first: tuple[Tensor, Tensor], second: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return where the edges of two boxes cross, sixteen pairs of them, and which do."""
    (x1, y1), (x2, y2) = ((one.unsqueeze(-1) for one in first), (one.unsqueeze(-2) for one in second))
    dx1, dy1 = (one.roll(-1, -2) - one for one in (x1, y1))
    dx2, dy2 = (one.roll(-1, -1) - one for one in (x2, y2))
    area = dx1 * dy2 - dy1 * dx2
    parallel = area.abs() < 1e-9
    safe = area.masked_fill(parallel, 1.0)
    gap_x, gap_y = x2 - x1, y2 - y1
    along, other = (gap_x * dy2 - gap_y * dx2) / safe, (gap_x * dy1 - gap_y * dx1) / safe
    valid = ~parallel & (along >= 0) & (along <= 1) & (other >= 0) & (other <= 1)
    return (x1 + along * dx1).flatten(-2), (y1 + along * dy1).flatten(-2), valid.flatten(-2)


def _shared(first: Tensor, second: Tensor, corners: bool) -> Tensor:
    """Return the area that pairs of boxes share: of the polygon of their crossings and the corners of one in the other."""
    first, second = torch.broadcast_tensors(first, second)
    a, b = _corners(first, corners), _corners(second, corners)
    cross_x, cross_y, crossed = _crossings(a, b)
    x, y = torch.cat((a[0], b[0], cross_x), -1), torch.cat((a[1], b[1], cross_y), -1)
    within = _inside(a, _middles(second, corners)), _inside(b, _middles(first, corners))
    valid = torch.cat((*within, crossed), -1)
    count = valid.sum(-1, keepdim=True)
    weight = valid.float()
    scale = count.clamp(min=1)
    x, y = (one - (one * weight).sum(-1, keepdim=True) / scale for one in (x, y))
    # Points that do not count come last in the order of angles, and are then the first one again: they add no area.
    order = torch.atan2(y, x).masked_fill(~valid, 10.0).argsort(-1)
    places = torch.arange(24, device=x.device)
    order = torch.where(places < count, order, order[..., :1])
    x, y = x.gather(-1, order), y.gather(-1, order)
    area = (x * y.roll(-1, -1) - y * x.roll(-1, -1)).sum(-1).abs() * 0.5
    return area.masked_fill((count < 3).squeeze(-1), 0.0)


def _sized(boxes: Tensor, corners: bool) -> Tensor:
    _, _, width, height, _ = _middles(boxes, corners)
    return width * height


@operator("npu_rotated_overlaps(Tensor self, Tensor query_boxes, bool trans=False) -> Tensor")
def npu_rotated_overlaps(self: Tensor, query_boxes: Tensor, trans: bool = False) -> Tensor:
    """Return the area that every box shares with every other one; with `trans` boxes are given by two corners."""
    if self.dim() != 3 or query_boxes.dim() != 3:
        raise RuntimeError("boxes' dim should be equal to query_boxes' ndimension() and equal to 3!")
    return _shared(self.unsqueeze(2), query_boxes.unsqueeze(1), trans).to(self.dtype)


@operator(
    "npu_rotated_iou(Tensor self, Tensor query_boxes, bool trans=False, int mode=0, bool is_cross=True, "
    "float v_threshold=0.0, float e_threshold=0.0) -> Tensor"
)
def npu_rotated_iou(
    self: Tensor, query_boxes: Tensor, trans: bool = False, mode: int = 0, is_cross: bool = True,
    v_threshold: float = 0.0, e_threshold: float = 0.0,
) -> Tensor:  # fmt: skip
    """Return the shared area over the joint one, or with mode 1 over the first's; pair by pair without `is_cross`."""
    if self.dim() != 3 or query_boxes.dim() != 3:
        raise RuntimeError("boxes' dim should be equal to query_boxes' ndimension() and equal to 3!")
    if v_threshold or e_threshold:
        raise NotImplementedError("torch_npu.npu_rotated_iou: v_threshold and e_threshold are not supported")
    if mode not in (0, 1):
        raise RuntimeError(f"torch_npu.npu_rotated_iou: mode must be 0 or 1, but got {mode}")
    first, second = (self.unsqueeze(2), query_boxes.unsqueeze(1)) if is_cross else (self, query_boxes)
    shared = _shared(first, second, trans)
    own = _sized(first, trans)
    whole = own.expand(shared.shape) if mode else own + _sized(second, trans) - shared
    return torch.where(whole > 0, shared / whole.clamp(min=1e-12), 0.0).to(self.dtype)


@operator(
    "npu_nms_rotated(Tensor self, Tensor scores, float iou_threshold, float scores_threshold=0, int max_output_size=-1, "
    "int mode=0) -> (Tensor, Tensor)"
)
def npu_nms_rotated(
    self: Tensor, scores: Tensor, iou_threshold: float, scores_threshold: float = 0, max_output_size: int = -1,
    mode: int = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return which boxes are kept, best first, and how many: those that share too much with a better one are not.

    NotImplementedError for mode 1, angles that are not degrees.
    """
    if mode:
        raise NotImplementedError("torch_npu.npu_nms_rotated: mode 1 is not supported")
    order = scores.argsort(descending=True, stable=True)
    order = order[scores.index_select(0, order) > scores_threshold]
    boxes = self.index_select(0, order)[None]
    near = (npu_rotated_iou(boxes, boxes)[0] > iou_threshold).tolist()
    kept: list[int] = []
    for place in range(order.numel()):
        if not any(near[better][place] for better in kept):
            kept.append(place)
    kept = kept[:max_output_size] if max_output_size >= 0 else kept
    chosen = order[torch.tensor(kept, dtype=torch.int64, device=order.device)].to(torch.int32)
    return chosen, torch.tensor([len(kept)], dtype=torch.int32, device=order.device)


def _spans(boxes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return centre, size and tangent of the angle of boxes that lie in columns, given by two corners."""
    a, b, c, d, angle = boxes.float().unbind(1)
    return (a + c) * 0.5, (b + d) * 0.5, c - a, d - b, (angle * (math.pi / 180)).tan()


@operator("npu_rotated_box_encode(Tensor self, Tensor gt_bboxes, Tensor weight) -> Tensor")
def npu_rotated_box_encode(self: Tensor, gt_bboxes: Tensor, weight: Tensor) -> Tensor:
    """Return how true boxes differ from anchors: place over size, logarithms of sizes, tangents, each times its weight."""
    x, y, width, height, turn = _spans(self)
    u, v, wide, high, other = _spans(gt_bboxes)
    deltas = ((u - x) / width, (v - y) / height, (wide / width).log(), (high / height).log(), other - turn)
    return (torch.stack(deltas, 1) * weight.float().reshape(1, 5, 1)).to(self.dtype)


@operator("npu_rotated_box_decode(Tensor self, Tensor deltas, Tensor weight) -> Tensor")
def npu_rotated_box_decode(self: Tensor, deltas: Tensor, weight: Tensor) -> Tensor:
    """Return the boxes that differ from anchors by what `npu_rotated_box_encode` says."""
    x, y, width, height, turn = _spans(self)
    dx, dy, dw, dh, dt = (deltas.float() / weight.float().reshape(1, 5, 1)).unbind(1)
    u, v, wide, high = x + dx * width, y + dy * height, dw.exp() * width, dh.exp() * height
    angle = (dt + turn).atan() * (180 / math.pi)
    made = (u - wide * 0.5, v - high * 0.5, u + wide * 0.5, v + high * 0.5, angle)
    return torch.stack(made, 1).to(self.dtype)


@operator(
    "npu_grid_assign_positive(Tensor self, Tensor overlaps, Tensor box_responsible_flags, Tensor max_overlaps, "
    "Tensor argmax_overlaps, Tensor gt_max_overlaps, Tensor gt_argmax_overlaps, int num_gts, float pos_iou_thr, "
    "float min_pos_iou, bool gt_max_assign_all) -> Tensor"
)
def npu_grid_assign_positive(
    self: Tensor, overlaps: Tensor, box_responsible_flags: Tensor, max_overlaps: Tensor, argmax_overlaps: Tensor,
    gt_max_overlaps: Tensor, gt_argmax_overlaps: Tensor, num_gts: int, pos_iou_thr: float, min_pos_iou: float,
    gt_max_assign_all: bool,
) -> Tensor:  # fmt: skip
    """Return which true box, counted from 1, a box of a grid is for: the one it overlaps most, where it is responsible.

    A true box also gets the boxes that overlap it most, all of them or the first.
    """
    responsible = box_responsible_flags.bool()
    assigned = torch.where((max_overlaps > pos_iou_thr) & responsible, (argmax_overlaps + 1).to(self.dtype), self)
    wanted = gt_max_overlaps > min_pos_iou
    if gt_max_assign_all:
        hits = (overlaps == gt_max_overlaps.unsqueeze(-1)) & wanted.unsqueeze(-1)
    else:
        columns = torch.arange(overlaps.shape[1], device=overlaps.device)
        hits = (columns == gt_argmax_overlaps.unsqueeze(-1)) & wanted.unsqueeze(-1)
    numbers = torch.arange(1, overlaps.shape[0] + 1, device=overlaps.device).unsqueeze(-1)
    last = torch.where(hits & responsible, numbers, 0).amax(0)
    return torch.where(last > 0, last.to(self.dtype), assigned)


@operator("npu_normalize_batch(Tensor self, Tensor seq_len, int normalize_type=0) -> Tensor")
def npu_normalize_batch(self: Tensor, seq_len: Tensor, normalize_type: int = 0) -> Tensor:
    """Return sequences less their mean, over their deviation: of each feature, or with 1 of all; `seq_len` steps count."""
    steps = torch.arange(self.shape[2], device=self.device)
    counted = (steps < seq_len.reshape(-1, 1, 1)).float()
    over = (2,) if normalize_type == 0 else (1, 2)
    count = counted.expand(self.shape).sum(over, keepdim=True)
    wide = self.float()
    mean = (wide * counted).sum(over, keepdim=True) / count
    deviation = (((wide - mean) * counted).pow(2).sum(over, keepdim=True) / (count - 1)).sqrt()
    return ((wide - mean) / (deviation + 1e-5)).to(self.dtype)


@operator("npu_masked_fill_range(Tensor self, Tensor start, Tensor end, Tensor value, int axis=-1) -> Tensor")
def npu_masked_fill_range(self: Tensor, start: Tensor, end: Tensor, value: Tensor, axis: int = -1) -> Tensor:
    """Return a tensor with ranges of a dimension filled, each number of ranges with its value.

    Each column of the bounds has a range for every place of the dimension before; there is none for the first dimension.
    """
    axis %= self.dim()
    steps = torch.arange(self.shape[axis], device=self.device)
    made = self
    for first, last, one in zip(start, end, value, strict=True):
        hit = (steps >= first.unsqueeze(-1)) & (steps < last.unsqueeze(-1))
        shape = [1] * self.dim()
        shape[axis] = self.shape[axis]
        if self.dim() == 1 or axis == 0 or (self.dim() == 3 and axis == 1):
            hit = hit.any(0)
        else:
            shape[0] = hit.shape[0]
            if hit.shape[0] != self.shape[0]:
                raise RuntimeError(f"start must have {self.shape[0]} columns, but has {hit.shape[0]}")
        made = torch.where(hit.reshape(shape), one.to(self.dtype), made)
    return made


@operator(
    "batch_norm_gather_stats_update(Tensor input, Tensor mean, Tensor invstd, Tensor? running_mean, Tensor? running_var, "
    "float momentum, float eps, Tensor counts) -> (Tensor, Tensor)"
)
def batch_norm_gather_stats_update(
    input: Tensor, mean: Tensor, invstd: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    momentum: float, eps: float, counts: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return mean and reciprocal deviation of all devices' sums and sums of squares, and move the running ones to them."""
    total = counts.float().sum()
    middle = mean.float().sum(0) / total
    variance = invstd.float().sum(0) / total - middle * middle
    for running, found in ((running_mean, middle), (running_var, variance)):
        if running is not None:
            running.copy_(momentum * found + (1 - momentum) * running.float())
    return middle.to(input.dtype), (variance + eps).rsqrt().to(input.dtype)
