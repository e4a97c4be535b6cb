"""Opening what `torch.save` and `torch.load` accept as a file, and replacing files in one step."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from mindtorch.serialization._neighbours import Neighbour

_WRITE_OUT = 1 << 23
_KEEP_SIZE = 1  # FALLOC_FL_KEEP_SIZE of linux/falloc.h


def is_path(name_or_buffer: object) -> bool:
    """Whether the argument names a file."""
    return isinstance(name_or_buffer, str | os.PathLike)


def check_writable(target: object) -> None:
    """Refuse what is neither a path nor something with `write`."""
    if not is_path(target) and not hasattr(target, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


def check_seekable(source: Any) -> None:
    """Refuse streams that cannot move; the error is the stream's own with advice added."""
    try:
        source.seek(source.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        text = str(error)
        if "seek" in text or "tell" in text:
            raise type(error)(
                f"{text}. You can only torch.load from a file that is seekable. Please pre-load the data into a "
                "buffer like io.BytesIO and try to load from it instead."
            ) from None
        raise


@contextlib.contextmanager
def opened_for_reading(source: Any) -> Iterator[BinaryIO]:
    """A binary stream over a path or a file-like object; only files opened here are closed."""
    if is_path(source):
        with open(source, "rb") as stream:
            yield stream
    else:
        check_seekable(source)
        yield source


def bytes_left(stream: BinaryIO) -> int:
    """The bytes from the stream's position to its end."""
    here = stream.tell()
    end = stream.seek(0, os.SEEK_END)
    stream.seek(here)
    return end - here


def _is_regular_or_absent(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def _forget_cached_pages(path: str) -> None:
    """Give back what the system caches of a file that is about to be replaced: the new one needs as much."""
    if not hasattr(os, "posix_fadvise"):
        return
    with contextlib.suppress(OSError):  # no file yet, or one that takes no advice
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _system_fallocate() -> Any:
    """Linux's own `fallocate`, None elsewhere.

    `os.posix_fallocate` is no substitute: where a file system cannot reserve, it writes to every block instead.
    """
    found = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None) if sys.platform == "linux" else None
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return found


class _NewFile(io.BufferedWriter):
    """A file being written for the first time: takes its room at once, and is written out while it grows.

    Blocks reserved in one piece cost the system less than finding some whenever a part is written out, and a disk that
    is too small is noticed before anything is written. Writing out early lets the disk work while checksums are
    computed; without it the sync at the end waits for all of it.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(io.FileIO(descriptor, "wb"))
        self._told = self._given = 0

    def reserve(self, count: int) -> None:
        """Take room on the disk for `count` bytes. Raises OSError where there is not that much."""
        fallocate = _system_fallocate() if count >= _WRITE_OUT else None
        if fallocate is not None and fallocate(self.fileno(), _KEEP_SIZE, 0, count):
            code = ctypes.get_errno()
            if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # any other: a file system that reserves nothing
                raise OSError(code, os.strerror(code))

    def write(self, data: Any) -> int:
        """Write, and have whole pieces of `_WRITE_OUT` bytes start on their way to the disk."""
        count = super().write(data)
        self._given += count
        if self._given - self._told >= _WRITE_OUT and hasattr(os, "posix_fadvise"):
            # Advice that these pages are not needed makes the system write them out; until it has, it keeps them.
            with contextlib.suppress(OSError):  # a file system may take no advice
                os.posix_fadvise(self.fileno(), self._told, self._given - self._told, os.POSIX_FADV_DONTNEED)
            self._told = self._given
        return count


def _sync_folder(folder: str) -> None:
    # Makes the rename durable. Some file systems refuse to open or sync folders; the file itself is synced already.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def replaced_file(path: str | os.PathLike[str], sync: bool = True) -> Iterator[BinaryIO]:
    """A stream to a temporary neighbour that takes the place of `path` when the block succeeds.

    Whatever happens inside the block, or to the machine, `path` holds either its old content or all of the new one.
    Without `sync` that is so for the process alone: the machine may lose what it has not written yet.
    Devices and pipes are written directly, as is a file in a folder that lets nobody add files: there is no neighbour
    to replace it with.
    """
    target = os.path.realpath(os.fspath(path))  # a link stays a link, its target is replaced
    folder, name = os.path.split(target)
    neighbour = None
    if _is_regular_or_absent(target):
        try:
            neighbour = Neighbour(folder, name)
        except PermissionError:
            if not os.access(target, os.W_OK):
                raise
    if neighbour is None:
        with open(target, "wb") as stream:
            yield stream
        return
    try:
        _forget_cached_pages(target)
        with _NewFile(neighbour.descriptor) as stream:
            yield stream
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
            temporary = neighbour.named()
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        neighbour.remove()
        raise
    if sync:
        _sync_folder(folder)
