"""Ultralytics: a small YOLO detector: its outputs, its loss on two boxes, three steps, boxes after suppression."""

import json

import torch
from ultralytics.nn.tasks import DetectionModel
from ultralytics.utils import DEFAULT_CFG
from ultralytics.utils.nms import non_max_suppression

torch.manual_seed(0)
model = DetectionModel("yolov8n.yaml", nc=3, verbose=False).double()
model.args = DEFAULT_CFG
batch = {
    "img": torch.rand(2, 3, 64, 64, dtype=torch.float64),
    "batch_idx": torch.tensor([0.0, 1.0]),
    "cls": torch.tensor([[0.0], [2.0]]),
    "bboxes": torch.tensor([[0.5, 0.5, 0.4, 0.6], [0.3, 0.6, 0.3, 0.2]]),
}
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
losses = []
for _ in range(3):
    loss, parts = model.loss(batch)
    optimizer.zero_grad()
    loss.sum().backward()
    optimizer.step()
    losses.append([float(one) for one in parts.values()])
model.eval()
with torch.no_grad():
    out = model(batch["img"])[0]
boxes = non_max_suppression(out, conf_thres=0.0, iou_thres=0.5, max_det=5)
print(json.dumps({"losses": losses, "out": out.flatten()[::17].tolist(), "boxes": [one.tolist() for one in boxes]}))
