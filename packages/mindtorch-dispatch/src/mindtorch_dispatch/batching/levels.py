"""The open batches of a thread, outermost first."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..interface.batching import BATCHED_MASK
from ..state import state


class Batch:
    """One open `vmap`: its level (1 is the outermost), how many examples it has, what random ops do in it, and how many
    transforms are around it."""

    __slots__ = ("level", "randomness", "size", "transforms")

    def __init__(self, level: int, size: int, randomness: str) -> None:
        self.level = level
        self.size = size
        self.randomness = randomness
        self.transforms = state.transforms


class _Open(threading.local):
    def __init__(self) -> None:
        self.batches: tuple[Batch, ...] = ()
        self.looping: str | None = None


_open = _Open()


def depth() -> int:
    """Return how many batches are open."""
    return len(_open.batches)


def current() -> Batch | None:
    """Return the innermost open batch, None outside of `vmap`."""
    return _open.batches[-1] if _open.batches else None


def batch_at(level: int) -> Batch:
    """Return the open batch of `level`; torch's error for a tensor whose batch is closed."""
    if level > len(_open.batches):
        raise RuntimeError(
            "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
            "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in "
            "`gen_vmap_plumbing` Please file an issue if it looks like the latter"
        )
    return _open.batches[level - 1]


@contextmanager
def _opened(batches: tuple[Batch, ...]) -> Iterator[None]:
    before, mode = _open.batches, state.mode
    _open.batches = batches
    include = mode.include | BATCHED_MASK if batches else mode.include & ~BATCHED_MASK
    state.mode = mode.replace(include=include)
    try:
        yield
    finally:
        _open.batches = before
        state.mode = mode


@contextmanager
def transforming() -> Iterator[None]:
    """Context: a function runs inside of a transform, where it may not touch recording itself."""
    state.transforms += 1
    try:
        yield
    finally:
        state.transforms -= 1


@contextmanager
def open_level(size: int, randomness: str) -> Iterator[Batch]:
    """Open a batch of `size` examples inside the open ones for the block."""
    batch = Batch(len(_open.batches) + 1, size, randomness)
    with _opened((*_open.batches, batch)), transforming():
        yield batch


def looping() -> str | None:
    """Return what random ops may do inside the loop over slices that runs, None where none does."""
    return _open.looping


@contextmanager
def loop(randomness: str) -> Iterator[None]:
    """Context: slices are computed one by one, and random ops among them still are the batch's."""
    before, mode = _open.looping, state.mode
    _open.looping = randomness
    state.mode = mode.replace(include=mode.include | BATCHED_MASK)
    try:
        yield
    finally:
        _open.looping = before
        state.mode = mode


class below:
    """Context: what runs here is a batch's inside, so only the batches around that one are open."""

    __slots__ = ("before", "level", "mode", "transforms")

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> None:
        self.before, self.mode, self.transforms = _open.batches, state.mode, state.transforms
        if len(self.before) >= self.level:
            state.transforms = self.before[self.level - 1].transforms
        kept = _open.batches = self.before[: self.level - 1]
        if not kept:
            state.mode = self.mode.replace(include=self.mode.include & ~BATCHED_MASK)

    def __exit__(self, *exc_info: object) -> None:
        _open.batches = self.before
        state.mode = self.mode
        state.transforms = self.transforms
