"""The cases, told through `import torch` alone; each function prepares a case and returns what is timed."""

import contextlib
from collections.abc import Callable

import torch

TINY = 16
CHAIN = 100


def add() -> Callable[[], object]:
    """Two tiny tensors, nothing recorded."""
    a, b = torch.rand(TINY), torch.rand(TINY)
    return lambda: a + b


def add_grad() -> Callable[[], object]:
    """Two tiny tensors, one of which requires grad."""
    a, b = torch.rand(TINY, requires_grad=True), torch.rand(TINY)
    return lambda: a + b


def chain() -> Callable[[], object]:
    """A hundred dependent tiny ops and their backward."""
    start, other = torch.rand(TINY, requires_grad=True), torch.rand(TINY)

    def step() -> None:
        value = start
        for _ in range(CHAIN // 2):
            value = value * other
            value = value + other
        value.sum().backward()
        start.grad = None

    return step


def _tiny_ops() -> Callable[[], object]:
    a, b = torch.rand(TINY), torch.rand(TINY)

    def ops() -> None:
        value = a
        for _ in range(CHAIN // 2):
            value = value * b
            value = value + b

    return ops


def pipeline_tiny() -> Callable[[], object]:
    """A hundred tiny ops, recorded and run without fusion."""
    ops = _tiny_ops()

    def step() -> None:
        with torch.pipeline():
            ops()

    return step


def pipeline_tiny_eager() -> Callable[[], object]:
    """The same ops at once."""
    return _tiny_ops()


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
