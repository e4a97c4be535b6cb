"""Cases whose time is the call path and nothing else: sixteen elements. Each prepares and returns what is timed."""

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


def add_number() -> Callable[[], object]:
    """A tensor and a Python number."""
    a = torch.rand(TINY)
    return lambda: a.add(2.0)


def select() -> Callable[[], object]:
    """One element by its position."""
    a = torch.rand(TINY)
    return lambda: a[1]


def view() -> Callable[[], object]:
    """Another shape of the same elements."""
    a = torch.rand(TINY)
    return lambda: a.view(4, 4)


def total() -> Callable[[], object]:
    """The sum of all elements."""
    a = torch.rand(TINY)
    return lambda: a.sum()


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
