"""Reads the format of before 1.6: a stream of pickles followed by the storages."""

from __future__ import annotations

import inspect
import pickle
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

from mindtorch.serialization._budget import Budget
from mindtorch.serialization._calls import callers_code
from mindtorch.serialization._files import bytes_left
from mindtorch.serialization._locations import restorer
from mindtorch.serialization._saved_ids import SavedId, storage_id
from mindtorch.serialization._saving import MAGIC_NUMBER, PROTOCOL_VERSION
from mindtorch.serialization._settings import thread_state
from mindtorch_storage.storage import TypedStorage, UntypedStorage

_TAR_MAGIC, _TAR_MAGIC_PLACE = b"ustar", 257
_PIECE = 1 << 20
_SLACK = 1 << 20
"""Storages may ask for this many bytes more than the file has; reading them then says what is missing, as torch does. More
is refused before memory is taken."""


class SourceChangeWarning(Warning):
    """The code of a module class is not what it was when the file was saved.

    >>> issubclass(torch.serialization.SourceChangeWarning, Warning)
    True
    """


def check_source(cls: type, saved: str) -> None:
    """Warn when the code of a class is not what the file says, or cannot be found."""
    try:
        current = inspect.getsource(cls)
    except (OSError, TypeError):
        warnings.warn(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            "upon loading.",
            stacklevel=3,
        )
        return
    if saved != current:
        warnings.warn(
            f"source code of class '{cls.__module__}.{cls.__name__}' has changed. you can retrieve the original source "
            "code by accessing the object's source attribute or set `torch.nn.Module.dump_patches = True` and use the "
            "patch tool to revert the changes.",
            SourceChangeWarning,
            stacklevel=3,
        )


class _StorageTable:
    """Storages by key. They are made empty while unpickling, for tensors to view, and filled afterwards."""

    def __init__(self, map_location: Any, available: int, budget: Budget) -> None:
        self._available = available
        self._budget = budget
        self._restore = restorer(map_location)
        self._typed: dict[Any, TypedStorage] = {}
        self._views: dict[Any, TypedStorage] = {}

    def __call__(self, saved_id: Any) -> Any:
        if not isinstance(saved_id, tuple) or not saved_id:
            raise pickle.UnpicklingError(f"saved_id must be a tuple, got {type(saved_id).__name__}")
        kind = saved_id[0].decode("ascii", "replace") if isinstance(saved_id[0], bytes) else saved_id[0]
        if kind == "module":
            _, cls, source_file, source = saved_id
            if source_file and source:
                check_source(cls, source)
            return cls
        if kind != "storage":
            raise RuntimeError(f"Unknown saved id type: {kind}")
        saved = storage_id(saved_id, 6)
        root = self._typed.get(saved.key)
        if root is None:
            root = self._typed[saved.key] = self._made(saved)
        if not saved.numel and root.dtype is not saved.dtype:  # bytes that are not there have each tensor's dtype
            root = TypedStorage._over(root.untyped(), saved.dtype)
        return root if saved.view is None else self._view(root, *saved.view)

    def _made(self, saved: SavedId) -> TypedStorage:
        nbytes = saved.numel * saved.dtype.itemsize
        self._available -= max(nbytes, 0)
        if self._available < -_SLACK:
            raise RuntimeError(f"unexpected EOF, expected {-self._available} more bytes. The file might be corrupted.")
        self._budget.take(nbytes)
        # Zeros, not garbage, for programs that look before the data arrives.
        memory = UntypedStorage(nbytes).fill_(0)
        with callers_code():
            return TypedStorage._over(self._restore(memory, saved.location), saved.dtype)

    def _view(self, root: TypedStorage, key: Any, offset: int, count: int) -> TypedStorage:
        found = self._views.get(key)
        if found is None:
            start, size = offset * root.dtype.itemsize, count * root.dtype.itemsize
            found = self._views[key] = TypedStorage._over(root.untyped()[start : start + size], root.dtype)
        return found

    def fill(self, key: Any, stream: BinaryIO) -> None:
        """Read the elements of one storage."""
        key = key.decode("ascii", "replace") if isinstance(key, bytes) else key
        if type(key) not in (str, int) or key not in self._typed:
            shown = repr(key) if type(key) in (str, int) else f"of type {type(key).__name__}"
            raise pickle.UnpicklingError(f"storage key {shown[:1000]} not found in deserialized_objects")
        typed = self._typed[key]
        (count,) = struct.unpack("<q", read_exactly(stream, 8))
        target, expected = typed.untyped(), typed.nbytes()
        if count * typed.dtype.itemsize != expected:
            raise RuntimeError(f"storage has wrong byte size: expected {expected} got {count * typed.dtype.itemsize}")
        if target.device.type == "meta":
            stream.seek(expected, 1)
            return
        data = target if target.buffer is not None else UntypedStorage(expected)
        _read_into(stream, data.buffer.data)
        if sys.byteorder == "big":
            data.byteswap(typed.dtype)
        if data is not target:
            target.copy_(data)


def read_exactly(stream: BinaryIO, size: int) -> bytes:
    """The next `size` bytes; RuntimeError with the text of torch when the stream ends before."""
    data = b""
    while len(data) < size:
        piece = stream.read(size - len(data))
        if not piece:
            raise RuntimeError(f"unexpected EOF, expected {size - len(data)} more bytes. The file might be corrupted.")
        data = data + piece if data else piece
    return data


def _read_into(stream: BinaryIO, target: memoryview) -> None:
    """Fill `target` piece by piece, so that no second copy of it is in memory; RuntimeError as `read_exactly`."""
    while len(target):
        if hasattr(stream, "readinto"):
            count = stream.readinto(target[:_PIECE])
        else:
            piece = stream.read(min(len(target), _PIECE))
            count = len(piece)
            target[:count] = piece
        if not count:
            raise RuntimeError(f"unexpected EOF, expected {len(target)} more bytes. The file might be corrupted.")
        target = target[count:]


def is_tar(stream: BinaryIO) -> bool:
    """Whether a tar archive begins at the stream's position."""
    here = stream.tell()
    start = stream.read(_TAR_MAGIC_PLACE + len(_TAR_MAGIC))
    stream.seek(here)
    return start[_TAR_MAGIC_PLACE:] == _TAR_MAGIC


def read_legacy(stream: BinaryIO, map_location: Any, make_unpickler: Callable[[BinaryIO], Any], budget: Budget) -> Any:
    """Read a file of the older format from the stream's position on."""
    magic = make_unpickler(stream).load()
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = make_unpickler(stream).load()
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version if type(version) is int else type(version).__name__}")
    make_unpickler(stream).load()
    table = _StorageTable(map_location, bytes_left(stream), budget)
    unpickler = make_unpickler(stream)
    unpickler.persistent_load = table
    before, thread_state.after_data = thread_state.after_data, []
    try:
        result = unpickler.load()
        keys = make_unpickler(stream).load()
        if type(keys) is not list:
            raise pickle.UnpicklingError(f"expected a list of the keys of storages, got {type(keys).__name__}")
        if not thread_state.skip_data:
            for key in keys:
                table.fill(key, stream)
        for action in thread_state.after_data:
            action()
    finally:
        thread_state.after_data = before
    return result
