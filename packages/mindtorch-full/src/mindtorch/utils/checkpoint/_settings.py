"""Switches that hold for all checkpoints made in a region."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

#: None leaves each call its own choice.
settings: dict[str, bool | None] = {"debug": None, "early_stop": None}


@contextmanager
def _setting(name: str, value: bool | None) -> Iterator[None]:
    before = settings[name]
    settings[name] = value
    try:
        yield
    finally:
        settings[name] = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Whether checkpoints made in this region explain a failed recomputation, whatever they asked for.

    >>> import torch.utils.checkpoint
    >>> with torch.utils.checkpoint.set_checkpoint_debug_enabled(False):
    ...     torch.utils.checkpoint.checkpoint(torch.sin, torch.zeros(1), use_reentrant=False)
    tensor([0.])
    """
    with _setting("debug", enabled):
        yield


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether checkpoints made in this region stop recomputing once every saved tensor is there.

    >>> import torch.utils.checkpoint
    >>> with torch.utils.checkpoint.set_checkpoint_early_stop(False):
    ...     torch.utils.checkpoint.checkpoint(torch.sin, torch.zeros(1), use_reentrant=False)
    tensor([0.])
    """
    with _setting("early_stop", enable):
        yield
