"""Storages that share bytes until one of them is written: what `torch._lazy_clone` makes.

Such a storage has no `buffer`, and no tensor over it has an `_array`. So whatever is about to reach the bytes finds nothing
there, and what stands in the place of the memory, a `CopyOnWrite`, gives the storage bytes of its own first: a copy, or
those that were shared where no other storage shows them any more. Storages that nobody cloned lazily pay nothing for it.
Calls of operators that only read are run over arrays that cannot be written, see `mindtorch_dispatch.execute.reading`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch_storage.deferred import settle
from mindtorch_storage.storage.memory import HostAllocation

if TYPE_CHECKING:
    from mindtorch_storage.storage.untyped import UntypedStorage


class _Thread(threading.local):
    in_loop = False


_thread = _Thread()


@contextmanager
def parallel_loop() -> Iterator[None]:
    """Run the body of a loop over threads: storages take no bytes of their own there, as one is not for all to change."""
    before, _thread.in_loop = _thread.in_loop, True
    try:
        yield
    finally:
        _thread.in_loop = before


class SharedBytes:
    """Bytes that several storages show and none of them may write."""

    __slots__ = ("block", "lock", "shown", "storages")

    def __init__(self, block: HostAllocation) -> None:
        self.block = block
        self.lock = threading.Lock()
        self.storages: weakref.WeakSet[UntypedStorage] = weakref.WeakSet()
        self.shown = block.buffer.view()
        self.shown.flags.writeable = False

    def sharers(self) -> int:
        """Return how many storages show the bytes."""
        return sum(shared_bytes(storage) is self for storage in self.storages)


class CopyOnWrite:
    """What a storage has in the place of its memory while it shares bytes, and what tensors over it wait for."""

    __slots__ = ("common", "nbytes", "owner")
    buffer: Any = None
    filename: str | None = None
    resizable = True
    lent = pinned = shared = False

    def __init__(self, common: SharedBytes, owner: UntypedStorage) -> None:
        self.common = common
        self.nbytes = common.block.nbytes
        self.owner = weakref.ref(owner)
        common.storages.add(owner)

    def flush(self) -> None:
        """Give the storage bytes of its own; a tensor that waits for its array asks for it."""
        storage = self.owner()
        if storage is not None:
            materialize(storage)

    def pointer(self) -> int:
        """The address of the first byte, 0 for an empty block."""
        return self.common.block.pointer()

    def read(self) -> np.ndarray[Any, Any]:
        """The bytes, not to be written."""
        return self.common.shown

    def write(self, data: np.ndarray[Any, Any]) -> None:
        """Overwrite all bytes of this storage alone."""
        self.flush()
        storage = self.owner()
        assert storage is not None, "a storage writes its own memory"
        storage.buffer[:] = data

    def reallocated(self, nbytes: int) -> HostAllocation:
        """A new heap block that begins with these bytes."""
        return self.common.block.reallocated(nbytes)


def shared_bytes(storage: UntypedStorage) -> SharedBytes | None:
    """Return the bytes that a storage shares with lazy clones, None for one that has its own."""
    allocation = storage._allocation
    return allocation.common if isinstance(allocation, CopyOnWrite) else None


def lazy_clone(storage: UntypedStorage) -> UntypedStorage | None:
    """Return a storage that shares the bytes of `storage` until one of the two is written; None where the bytes are not
    this storage's to share: those of other objects, of files and of other processes."""
    settle()
    shared = shared_bytes(storage)
    if shared is None:
        block = storage._allocation
        if type(block) is not HostAllocation or block.lent or not block.resizable:
            return None
        shared = SharedBytes(block)
        storage._share(CopyOnWrite(shared, storage))
    clone: UntypedStorage = object.__new__(type(storage))
    clone.device = storage.device
    clone._allocation = CopyOnWrite(shared, clone)
    return clone


def materialize(storage: UntypedStorage) -> None:
    """Give a storage that shares bytes its own, and the tensors over it their arrays."""
    shared = shared_bytes(storage)
    if shared is None:
        return
    if _thread.in_loop:
        raise RuntimeError("Materializing a storage in the loop function of at::parallel_for is forbidden")
    with shared.lock:
        if shared_bytes(storage) is shared:  # another thread may have been here
            alone = shared.sharers() == 1
            storage._move_to(shared.block if alone else shared.block.reallocated(shared.block.nbytes))
