"""Small programs; each function prepares a case, told through `import torch` alone, and returns what is timed."""

import contextlib
from collections.abc import Callable

import torch


def pipeline_fused() -> Callable[[], object]:
    """A chain on what does not fit the cache, in a fusing pipeline where there is one."""
    start = torch.rand(4_000_000)
    pipeline = getattr(torch, "pipeline", None)
    context = contextlib.nullcontext if pipeline is None else lambda: pipeline(fuse=True)

    def step() -> None:
        with context():
            value = start
            for _ in range(5):
                value = value * 1.01
                value = value + 0.5
                value = value - start
                value = value.abs()

    return step


def mlp() -> Callable[[], object]:
    """A small perceptron, one Adam step."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters())
    images, labels = torch.rand(64, 784), torch.randint(0, 10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step
