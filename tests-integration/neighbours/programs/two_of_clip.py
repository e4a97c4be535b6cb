"""open_clip on two ranks: its distributed set-up, a small CLIP under DistributedDataParallel, the loss over all features."""

import argparse
import importlib
import json

import torch
from launching.two_ranks import run

try:
    importlib.import_module("torchvision")
except RuntimeError:  # it was compiled for CUDA, and this torch was not: its operators are not there, and it names them
    for name in ("nms", "qnms"):
        torch.library.define(f"torchvision::{name}", "(Tensor boxes, Tensor scores, float threshold) -> Tensor")

open_clip = importlib.import_module("open_clip")
training = importlib.import_module("open_clip_train.distributed")


def main():
    args = argparse.Namespace(
        device="cpu", dist_backend="gloo", dist_url="env://", horovod=False, no_set_device_rank=True
    )
    device = training.init_distributed_device(args)
    torch.manual_seed(1)
    tower = {"layers": 2, "width": 32, "head_width": 16, "patch_size": 8, "image_size": 16}
    model = open_clip.CLIP(16, tower, {"context_length": 8, "vocab_size": 50, "width": 32, "heads": 2, "layers": 2}).to(
        device
    )
    trained = torch.nn.parallel.DistributedDataParallel(model)
    loss = open_clip.ClipLoss(local_loss=True, gather_with_grad=True, rank=args.rank, world_size=args.world_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(args.rank)
    losses = []
    for _ in range(5):
        images = torch.randn(4, 3, 16, 16, generator=generator)
        texts = torch.randint(1, 50, (4, 8), generator=generator)
        total = loss(*trained(images, texts)[:3])
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        losses.append(total.item())
    if training.is_master(args):
        names = open_clip.list_models()
        print(json.dumps({"losses": losses, "ranks": args.world_size, "models": len(names)}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    run(__file__, main)
