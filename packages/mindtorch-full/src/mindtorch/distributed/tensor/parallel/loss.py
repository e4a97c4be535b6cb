"""Losses on logits whose classes are spread."""

from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._naming import adopt

__all__ = ["loss_parallel"]


@contextmanager
def loss_parallel() -> Iterator[None]:
    """Within the block cross entropy takes spread logits; it does so everywhere, and gathers them."""
    yield


adopt(globals())
