"""Optimizers that come in packages of their own: lion, adan, prodigy, those without schedules, torch-optimizer's."""

import json

import torch
import torch_optimizer
from adan_pytorch import Adan
from lion_pytorch import Lion
from prodigyopt import Prodigy
from schedulefree import AdamWScheduleFree, RAdamScheduleFree, SGDScheduleFree


def losses(make):
    """The losses of twelve steps, and of the weights that are meant for use."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4))
    x, y = torch.randn(32, 8), torch.randn(32, 4)
    optimizer = make(model.parameters())
    getattr(optimizer, "train", lambda: None)()

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward(create_graph=isinstance(optimizer, torch_optimizer.Adahessian))
        return loss

    found = []
    for _ in range(12):
        found.append(float(closure()))
        optimizer.step()
    getattr(optimizer, "eval", lambda: None)()
    return [*found, float((model(x) - y).pow(2).mean())]


MADE = {
    "lion": lambda weights: Lion(weights, lr=1e-3, weight_decay=0.1),
    "adan": lambda weights: Adan(weights, lr=1e-2, weight_decay=0.02),
    "prodigy": lambda weights: Prodigy(weights, safeguard_warmup=True, use_bias_correction=True),
    "adamw without schedule": lambda weights: AdamWScheduleFree(weights, lr=1e-2, warmup_steps=3),
    "sgd without schedule": lambda weights: SGDScheduleFree(weights, lr=1e-1),
    "radam without schedule": lambda weights: RAdamScheduleFree(weights, lr=1e-2),
    "lookahead": lambda weights: torch_optimizer.Lookahead(torch_optimizer.Yogi(weights, lr=1e-2), k=3),
}
# Shampoo takes roots of matrices with eigenvalues that are nearly zero, which differ from the first step on.
NAMES = [name for name in torch_optimizer.__all__ if isinstance(getattr(torch_optimizer, name), type)]
MADE |= {name: getattr(torch_optimizer, name) for name in NAMES if name not in ("Lookahead", "Shampoo")}
print(json.dumps({name: losses(make) for name, make in MADE.items()}))
