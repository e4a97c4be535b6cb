"""The file that a save writes beside its target, which nothing is left of when the process is killed.

Where the system can make a file without a name (Linux), it gets one when it is complete, and a killed process leaves none.
Elsewhere, and in the moment between name and replacement, the file is locked as long as its process lives: the first save
of a process into a folder removes those that nobody holds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import sys
from typing import Any

if sys.platform == "win32":
    fcntl: Any = None
else:
    import fcntl

_SUFFIX = ".mindtorch-save"
_LONGEST = 50  # characters of the target's name, so that the whole is a name that file systems take
_LINKS = "/proc/self/fd"
_UNNAMED = getattr(os, "O_TMPFILE", 0) if os.path.isdir(_LINKS) else 0
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
_cleaned: set[str] = set()


class Neighbour:
    """A new file in the target's folder, with the permissions that any new file gets."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name[:_LONGEST]
        self._path: str | None = None
        if folder not in _cleaned:
            _cleaned.add(folder)
            remove_left(folder)
        unnamed = _open_unnamed(folder)
        self.descriptor = self._open_named() if unnamed is None else unnamed

    def _free_path(self) -> str:
        return os.path.join(self._folder, f".{self._name}.{secrets.token_hex(4)}{_SUFFIX}")

    def _open_named(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            path = self._free_path()
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, flags, 0o666)
                _lock(descriptor)
                if _is_at(descriptor, path):  # else another process took it for left over before it was locked
                    self._path = path
                    return descriptor
                os.close(descriptor)

    def named(self) -> str:
        """Return the file's path, giving it one when it had none; call it while the file is open."""
        while self._path is None:
            path = self._free_path()
            links = os.open(_LINKS, os.O_RDONLY)
            try:
                os.link(str(self.descriptor), path, src_dir_fd=links, follow_symlinks=True)
                self._path = path
            except FileExistsError:
                continue  # another name, then
            except OSError:  # a file system that makes files without a name, and then gives them none
                self._copy()
            finally:
                os.close(links)
        return self._path

    def _copy(self) -> None:
        with open(self.descriptor, "rb", closefd=False) as source, open(self._open_named(), "wb") as target:
            source.seek(0)
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())

    def remove(self) -> None:
        """Remove the file if it has a name; one without is gone when it is closed."""
        if self._path is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._path)


def _open_unnamed(folder: str) -> int | None:
    if not _UNNAMED:
        return None
    try:
        descriptor = os.open(folder, _UNNAMED | os.O_RDWR, 0o666)
    except OSError as error:
        if error.errno in _NO_UNNAMED:  # a file system without such files
            return None
        raise
    _lock(descriptor)
    return descriptor


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed or the process ends; False when another process has, or locks do not exist."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (OSError, AttributeError):  # taken, or a system or file system without locks
        return False
    return True


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def remove_left(folder: str) -> None:
    """Remove the files of saves whose processes are dead."""
    with contextlib.suppress(OSError):  # a folder that cannot be listed is saved into all the same
        with os.scandir(folder) as entries:
            left = [entry.path for entry in entries if entry.name.startswith(".") and entry.name.endswith(_SUFFIX)]
        for path in left:
            _remove_if_free(path)


def _remove_if_free(path: str) -> None:
    with contextlib.suppress(OSError):  # another process was quicker, or may not remove it
        if fcntl is None:  # where open files cannot be removed
            os.unlink(path)
            return
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if _lock(descriptor):
                os.unlink(path)
        finally:
            os.close(descriptor)
