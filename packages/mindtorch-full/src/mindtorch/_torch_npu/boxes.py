"""How much boxes overlap, under torch_npu's names."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

__all__ = ["npu_giou", "npu_iou", "npu_ptiou"]


def _corners(boxes: Any, trans: bool) -> tuple[Any, ...]:
    if not trans:
        return boxes.unbind(-1)
    x, y, width, height = boxes.unbind(-1)
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def npu_iou(bboxes: Any, gtboxes: Any, mode: int = 0) -> Any:
    """Return how much boxes overlap, each with each: over their union, or with `mode` 1 over the second's area."""
    a, b = bboxes[:, None], gtboxes[None]
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    common = (high - low).clamp(min=0).prod(-1)
    areas = [(one[..., 2:] - one[..., :2]).prod(-1) for one in (a, b)]
    return common / (areas[1] if mode else areas[0] + areas[1] - common).clamp(min=1e-9)


npu_ptiou = npu_iou


def npu_giou(self: Any, gtboxes: Any, trans: bool = False, is_cross: bool = False, mode: int = 0) -> Any:
    """Return the generalised overlap of boxes, pair by pair; each box is a column."""
    if is_cross or mode:
        raise NotImplementedError("torch_npu.npu_giou: is_cross and mode are not supported")
    x1, y1, x2, y2 = _corners(self.t(), trans)
    u1, v1, u2, v2 = _corners(gtboxes.t(), trans)
    width = (torch.minimum(x2, u2) - torch.maximum(x1, u1)).clamp(min=0)
    height = (torch.minimum(y2, v2) - torch.maximum(y1, v1)).clamp(min=0)
    common = width * height
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - common
    around = (torch.maximum(x2, u2) - torch.minimum(x1, u1)) * (torch.maximum(y2, v2) - torch.minimum(y1, v1))
    return (common / union - (around - union) / around).unsqueeze(0)
