"""`torch.mtia.mtia_graph`: recorded work of a device; there is none, and every use raises as torch without it does."""

from __future__ import annotations

from typing import Any, NoReturn

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.mtia._device import refuse

__all__ = ["MTIAGraph", "graph", "graph_pool_handle"]


def graph_pool_handle() -> Any:
    """Return a pool of memory that graphs can share; raises, there is no device.

    >>> torch.mtia.graph_pool_handle()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute graphPoolHandle() without MTIA backend.
    """
    refuse("graphPoolHandle")


class MTIAGraph:
    """Recorded work; raises, there is no device.

    >>> torch.mtia.MTIAGraph()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute mtiagraphCreate() without MTIA backend.
    """

    def __new__(cls, keep_graph: bool = False) -> NoReturn:
        refuse("mtiagraphCreate")


class graph:
    """Record the work of the block; raises, there is no device.

    >>> torch.mtia.graph(None)
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot execute getCurrentDevice() without MTIA backend.
    """

    def __init__(self, mtia_graph: MTIAGraph, pool: Any = None, stream: torch.Stream | None = None) -> None:
        refuse("getCurrentDevice")


adopt(globals())
