"""`torch.profiler.itt`: marks for Intel's tracer, which this library is not built with."""

from __future__ import annotations

from typing import NoReturn

from mindtorch._naming import adopt

__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]


def _refuse() -> NoReturn:
    raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")


def is_available() -> bool:
    """Return whether the tracer can be used: False."""
    return False


def range_push(msg: str) -> NoReturn:
    """Begin a range; raises."""
    _refuse()


def range_pop() -> NoReturn:
    """End a range; raises."""
    _refuse()


def mark(msg: str) -> NoReturn:
    """Mark a moment; raises."""
    _refuse()


def range(msg: str, *args: object, **kwargs: object) -> NoReturn:
    """Mark the time of a block; raises."""
    _refuse()


adopt(globals())
