"""Memory that several processes map: anonymous files passed as descriptors, and files known by name.

`file_descriptor`: the bytes are an anonymous file that exists as long as a process, a mapping or a message on its way
refers to it, so that nothing is left whoever dies. `file_system`: the bytes are a named file whose first block counts
its users; the last one removes it, and what killed processes leave is removed by `remove_files_of` and, when the last
process of the program is gone, by Python's resource tracker.
"""

from __future__ import annotations

import _thread
import contextlib
import itertools
import mmap
import os
import struct
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from mindtorch_storage.deferred import settle
from mindtorch_storage.device import device as Device
from mindtorch_storage.lazy_import import LazyModule, load
from mindtorch_storage.storage.memory import HostAllocation

_tempfile = LazyModule("tempfile", "only systems without /dev/shm need it")
_util = LazyModule("multiprocessing.util", "few programs share memory")

if sys.platform != "win32":  # where the strategy that needs it is not offered
    import fcntl

FILE_DESCRIPTOR, FILE_SYSTEM = "file_descriptor", "file_system"
_HEADER = 64  # room for the count, and the alignment of what follows
_COUNT = struct.Struct("<q")
_numbers = itertools.count(1)


_tracker: list[Any] = []


def _resource_tracker() -> Any:
    # Imported when needed: it costs as much as the rest of this package, and few programs share files. Kept, as nothing
    # can be imported any more when an interpreter that ends gives files back.
    if not _tracker:
        _tracker.append(load("multiprocessing.resource_tracker"))
    return _tracker[0]


class Strategy:
    """The way in which `share_memory_` shares; `torch.multiprocessing.set_sharing_strategy` sets it."""

    current = FILE_DESCRIPTOR


def _folder() -> str:
    if os.path.isdir("/dev/shm"):
        return "/dev/shm"
    folder: str = _tempfile.gettempdir()
    return folder


def _anonymous_file(nbytes: int) -> int:
    """The descriptor of a new file that no folder lists."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("torch_shared", os.MFD_CLOEXEC)
    else:
        path = os.path.join(_folder(), _new_handle()[1:])
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.unlink(path)
    try:
        os.ftruncate(descriptor, nbytes)
    except OSError as error:
        os.close(descriptor)
        raise RuntimeError(f"unable to allocate shared memory(shm): {error.strerror} ({error.errno})") from None
    return descriptor


def _new_handle() -> str:
    return f"/torch_{os.getpid()}_{int.from_bytes(os.urandom(4), 'little')}_{next(_numbers)}"


def _mapped(descriptor: int, nbytes: int, start: int = 0) -> np.ndarray[Any, Any]:
    if nbytes == 0:
        return np.empty(0, np.uint8)
    try:
        return np.frombuffer(mmap.mmap(descriptor, start + nbytes), np.uint8)[start:]
    except (OSError, ValueError) as error:
        code = getattr(error, "errno", None) or 22
        raise RuntimeError(
            f"unable to mmap {nbytes} bytes from file <filename not specified>: {os.strerror(code)} ({code})"
        ) from None


class DescriptorAllocation(HostAllocation):
    """A mapping of an anonymous file; `descriptor` is what another process needs to map it too."""

    __slots__ = ("__weakref__", "descriptor")

    def __init__(self, descriptor: int, nbytes: int) -> None:
        super().__init__(_mapped(descriptor, nbytes), resizable=False, shared=True)
        self.descriptor = descriptor
        weakref.finalize(self, _close, descriptor)


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a program may have closed all descriptors, as daemons do
        os.close(descriptor)


class NamedAllocation(HostAllocation):
    """A mapping of a named file whose users are counted; `handle` is its name."""

    __slots__ = ("__weakref__", "handle")

    def __init__(self, handle: str, nbytes: int, *, create: bool) -> None:
        path = _path_of(handle)
        flags = os.O_RDWR | (os.O_CREAT | os.O_EXCL if create else 0)
        try:
            descriptor = os.open(path, flags, 0o600)
        except OSError as error:
            raise RuntimeError(
                f"unable to open shared memory object <{handle}> in read-write mode: {error.strerror} ({error.errno})"
            ) from None
        try:
            if create:
                os.ftruncate(descriptor, _HEADER + nbytes)
                _resource_tracker().register(handle, "shared_memory")
            buffer = _mapped(descriptor, nbytes, _HEADER)
        finally:
            os.close(descriptor)
        super().__init__(buffer, resizable=False, shared=True)
        self.handle = handle
        change_count(handle, 1)
        # Child processes run these at their end, and no others.
        _util.Finalize(self, _unused, (handle,), exitpriority=0)


def _path_of(handle: str) -> str:
    return os.path.join(_folder(), handle.lstrip("/"))


@contextlib.contextmanager
def _locked(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def change_count(handle: str, step: int) -> None:
    """Count one user more or less of a named file; the last one removes it. A file that is gone stays gone."""
    path = _path_of(handle)
    with contextlib.suppress(FileNotFoundError), _locked(path) as descriptor:
        (count,) = _COUNT.unpack(os.pread(descriptor, _COUNT.size, 0))
        os.pwrite(descriptor, _COUNT.pack(count + step), 0)
        if count + step <= 0:
            _remove(handle)


def _unused(handle: str) -> None:
    """Count one user less, when an allocation goes. Python drops what such a callback raises: Ctrl-C is sent anew."""
    try:
        change_count(handle, -1)
    except KeyboardInterrupt:
        _thread.start_new_thread(_interrupt_soon, ())


def _interrupt_soon() -> None:
    time.sleep(0.01)  # until the callback has returned
    _thread.interrupt_main()


def _remove(handle: str) -> None:
    os.unlink(_path_of(handle))
    _resource_tracker().unregister(handle, "shared_memory")


def remove_files_of(pid: int) -> int:
    """Remove the named files that a dead process made; mappings of them stay usable. Returns how many."""
    prefix, removed = f"torch_{pid}_", 0
    for name in os.listdir(_folder()):
        if name.startswith(prefix):
            with contextlib.suppress(FileNotFoundError):
                _remove(f"/{name}")
                removed += 1
    return removed


def new_shared(nbytes: int) -> HostAllocation:
    """Zeroed shared memory of the current strategy."""
    if Strategy.current == FILE_SYSTEM:
        return NamedAllocation(_new_handle(), nbytes, create=True)
    return DescriptorAllocation(_anonymous_file(nbytes), nbytes)


class Shareable(Protocol):
    """What the methods below need of a storage."""

    _allocation: Any
    buffer: Any

    @property
    def device(self) -> Device: ...
    def nbytes(self) -> int: ...
    def is_shared(self) -> bool: ...
    def _move_to(self, allocation: Any) -> None: ...
    def _share_in(self, kind: type[HostAllocation], strategy: str) -> Any: ...


class SharingMethods:
    """How a storage comes to lie in shared memory and in another process."""

    __slots__ = ()

    def _share_in(self: Shareable, kind: type[HostAllocation], strategy: str) -> Any:
        if self.device.type != "cpu":
            raise RuntimeError(f"_share_{'fd' if strategy == FILE_DESCRIPTOR else 'filename'}_: only available on CPU")
        settle()
        if not isinstance(self._allocation, kind):
            before, Strategy.current = Strategy.current, strategy
            try:
                block = new_shared(self.nbytes())
            finally:
                Strategy.current = before
            block.buffer[:] = self.buffer
            self._move_to(block)
        return self._allocation

    def _share_fd_cpu_(self: Shareable) -> tuple[int, int]:
        """Move to an anonymous file; returns its descriptor, which the storage keeps, and the length."""
        return self._share_in(DescriptorAllocation, FILE_DESCRIPTOR).descriptor, self.nbytes()

    @classmethod
    def _new_shared_fd_cpu(cls: Any, descriptor: int, nbytes: int) -> Any:
        """A storage over the file of a descriptor, which the caller keeps."""
        try:
            copy = os.dup(descriptor)
        except OSError:
            raise RuntimeError("could not duplicate a shared memory file descriptor") from None
        return cls._from_allocation(DescriptorAllocation(copy, nbytes))

    def _share_filename_cpu_(self: Shareable) -> tuple[bytes, bytes, int]:
        """Move to a named file; returns who manages it (nobody: its users count themselves), its name and length."""
        handle = self._share_in(NamedAllocation, FILE_SYSTEM).handle
        return b"", handle.encode(), self.nbytes()

    @classmethod
    def _new_shared_filename_cpu(cls: Any, manager: bytes, handle: bytes, nbytes: int) -> Any:
        """A storage over a named file."""
        return cls._from_allocation(NamedAllocation(handle.decode(), nbytes, create=False))

    @classmethod
    def _new_shared(cls: Any, size: int, *, device: Device | str = "cpu") -> Any:
        """A new storage in shared memory."""
        if str(device) == "cpu":
            return cls._from_allocation(new_shared(size))
        return cls(size, device=device)

    def _shared_incref(self: Shareable) -> Any:
        """Count a message that is on its way to another process as a user of the named file."""
        if isinstance(self._allocation, NamedAllocation):
            change_count(self._allocation.handle, 1)
        return self

    def _shared_decref(self: Shareable) -> Any:
        """The message arrived."""
        if isinstance(self._allocation, NamedAllocation):
            change_count(self._allocation.handle, -1)
        return self

    def share_memory_(self: Shareable) -> Any:
        """Move the bytes to memory that other processes can map; nothing happens when they are there already."""
        if self.device.type != "cpu":
            raise RuntimeError("_share_fd_: only available on CPU")
        if not self.is_shared():
            settle()
            block = new_shared(self.nbytes())
            block.buffer[:] = self.buffer
            self._move_to(block)
        return self


def start_tracking() -> None:
    """Let this process and the children it makes from now on have one tracker of named files."""
    _resource_tracker().ensure_running()
