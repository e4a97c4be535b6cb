"""Optimizers of pytorch-optimizer: five steps of a small net with each."""

import json

import pytorch_optimizer
import torch

NAMES = (
    "Lion AdaBelief AdamP RAdam Ranger Ranger21 Lamb LARS MADGRAD Adan Adai DAdaptAdam Prodigy NovoGrad PID QHAdam Shampoo "
    "ScalableShampoo SM3 SWATS Yogi AccSGD AdaMod AdaNorm AggMo Apollo Tiger CAME StableAdamW A2Grad Fromage GaLore Kate ADOPT "
    "ScheduleFreeAdamW AdEMAMix MARS LaProp"
).split()


def steps(name: str) -> list[float]:
    """Return the losses of five steps."""
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    x = torch.randn(16, 4)
    options = {"num_iterations": 10} if name == "Ranger21" else {}
    optimizer = pytorch_optimizer.load_optimizer(name)(net.parameters(), **options)
    if hasattr(optimizer, "train"):
        optimizer.train()
    found = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


print(json.dumps({name: steps(name) for name in NAMES}))
