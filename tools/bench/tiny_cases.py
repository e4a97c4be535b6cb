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


def read() -> Callable[[], object]:
    """One element as a Python number, in each of the usual ways."""
    a = torch.rand(())
    return lambda: (float(a), a.item(), bool(a), a.tolist())


def subscript() -> Callable[[], object]:
    """Views by basic indices."""
    m = torch.rand(4, 4)
    return lambda: (m[1, 2], m[:, 1], m[..., 0], m[None], m[1:3])


def assign() -> Callable[[], object]:
    """Numbers and a row written by basic indices."""
    m, row = torch.rand(4, 4), torch.rand(4)

    def step() -> None:
        m[1] = 1.0
        m[0, 1] = 1.0
        m[:, 1] = row

    return step


def convert() -> Callable[[], object]:
    """Conversions by name, two of which have nothing to do."""
    m = torch.rand(4, 4)
    return lambda: (m.float(), m.cpu(), m.double())


def reshape() -> Callable[[], object]:
    """Views that are composed of others."""
    m, n = torch.rand(4, 4), torch.rand(2, 8)
    return lambda: (m.flatten(), m.reshape(-1), m.T, m.view_as(n))


def make() -> Callable[[], object]:
    """Tensors of Python numbers."""
    return lambda: (torch.tensor(1.0), torch.tensor([1.0, 2.0]), torch.tensor([[1, 2], [3, 4]]))


def no_grad() -> Callable[[], object]:
    """Modes that programs switch often."""

    def step() -> None:
        with torch.no_grad():
            pass
        with torch.inference_mode():
            pass

    return step


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
