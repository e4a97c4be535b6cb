"""Opening what `torch.save` and `torch.load` accept as a file, and replacing files in one step."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO


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


def _is_regular_or_absent(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return True


def _open_neighbour(folder: str, name: str) -> tuple[int, str]:
    """Create a file of a new name beside the target, with the permissions that any new file gets."""
    while True:
        temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
        with contextlib.suppress(FileExistsError):
            return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666), temporary


def _sync_folder(folder: str) -> None:
    # Makes the rename durable. Some file systems refuse to open or sync folders; the file itself is synced already.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def replaced_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to a temporary neighbour that takes the place of `path` when the block succeeds.

    Whatever happens inside the block, or to the machine, `path` holds either its old content or all of the new one.
    Devices and pipes are written directly, as is a file in a folder that lets nobody add files: there is no neighbour
    to replace it with.
    """
    target = os.path.realpath(os.fspath(path))  # a link stays a link, its target is replaced
    folder, name = os.path.split(target)
    neighbour = None
    if _is_regular_or_absent(target):
        try:
            neighbour = _open_neighbour(folder, name)
        except PermissionError:
            if not os.access(target, os.W_OK):
                raise
    if neighbour is None:
        with open(target, "wb") as stream:
            yield stream
        return
    descriptor, temporary = neighbour
    try:
        with open(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)
