"""Tensors whose bytes do not exist yet: what the lowest layer knows of deferred execution.

A pipeline (of a higher layer) records calls instead of running them. Whoever lets the outside see or change bytes calls
`settle()` first, which runs what this thread has recorded. A tensor made by a recorded call has no `_array` (and often no
`_storage`) until then: the slot is unset, so that nothing can take other bytes for its own. Its `_pipe` is what runs the
calls it waits for. Code that may meet another thread's waiting tensors catches the AttributeError, which costs nothing
where none is raised, and asks `wait_for_missing` to make up for it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

_SLOTS = ("_array", "_storage")


class _Thread(threading.local):
    pipe: Any = None


thread = _Thread()
"""The calling thread's state: `pipe` records this thread's calls, None while they run at once."""


def settle() -> None:
    """Run what this thread has recorded. Every place that shows or changes bytes calls this first."""
    pipe = thread.pipe
    if pipe is not None:
        pipe.flush()


MOST_DIMENSIONS = 64 if int(np.__version__.split(".")[0]) >= 2 else 32
"""How many dimensions numpy's arrays have. A tensor on the CPU that has more is a geometry over a storage: it has views, and
its `_array` stays unset."""


def check_dimensions(ndim: int, name: str = "") -> None:
    """Refuse what needs the elements of a tensor of more dimensions than arrays have."""
    if ndim > MOST_DIMENSIONS:
        needs = f"{name}: " if name else ""
        raise RuntimeError(
            f"{needs}only tensors with up to {MOST_DIMENSIONS} dims are supported, but this one has {ndim}"
        )


def wait_for(tensor: Any) -> None:
    """Run what `tensor` waits for, whichever thread recorded it; RuntimeError when its call failed."""
    pipe = getattr(tensor, "_pipe", None)
    if pipe is not None:
        pipe.flush()
    if not hasattr(tensor, "_array"):
        check_dimensions(tensor._sig.spec.ndim)
        raise RuntimeError("this tensor has no elements: the recorded call that makes it was dropped")


def wait_for_missing(error: AttributeError) -> bool:
    """Return False unless `error` is that of a tensor without bytes; else run what the tensor waits for."""
    tensor = error.obj
    if error.name not in _SLOTS or not hasattr(tensor, "_counter"):
        return False
    wait_for(tensor)
    return True
