"""Reads the format of before 1.6: a stream of pickles followed by the storages."""

from __future__ import annotations

import inspect
import pickle
import struct
import sys
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from mindtorch.serialization._locations import restorer
from mindtorch.serialization._saving import MAGIC_NUMBER, PROTOCOL_VERSION
from mindtorch.serialization._settings import thread_state
from mindtorch_storage import dtype as types
from mindtorch_storage.storage import TypedStorage, UntypedStorage

_TAR_MAGIC, _TAR_MAGIC_PLACE = b"ustar", 257
_SLACK = 1 << 20
"""Storages may ask for this many bytes more than the file has; reading them then says what is missing, as torch does. More
is refused before memory is taken."""


class SourceChangeWarning(Warning):
    """The code of a module class is not what it was when the file was saved."""


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

    def __init__(self, map_location: Any, available: int) -> None:
        self._available = available
        self._restore = restorer(map_location)
        self._typed: dict[Any, TypedStorage] = {}
        self._views: dict[Any, TypedStorage] = {}

    def __call__(self, saved_id: Any) -> Any:
        if not isinstance(saved_id, tuple) or not saved_id:
            raise pickle.UnpicklingError(f"saved_id must be a tuple, got {type(saved_id).__name__}")
        data: list[Any] = [part.decode("ascii") if isinstance(part, bytes) else part for part in saved_id]
        kind = data.pop(0)
        if kind == "module":
            cls, source_file, source = data
            if source_file and source:
                check_source(cls, source)
            return cls
        if kind != "storage":
            raise RuntimeError(f"Unknown saved id type: {kind}")
        storage_type, key, location, count, view = data
        dtype = types.uint8 if storage_type is UntypedStorage else storage_type.dtype
        root = self._typed.get(key)
        if root is None:
            self._available -= count * dtype.itemsize
            if self._available < -_SLACK:
                raise RuntimeError(
                    f"unexpected EOF, expected {-self._available} more bytes. The file might be corrupted."
                )
            # Zeros, not garbage, for programs that look before the data arrives.
            memory = UntypedStorage(count * dtype.itemsize).fill_(0)
            root = self._typed[key] = TypedStorage._over(self._restore(memory, location), dtype)
        return root if view is None else self._view(root, *view)

    def _view(self, root: TypedStorage, key: Any, offset: int, count: int) -> TypedStorage:
        found = self._views.get(key)
        if found is None:
            start, size = offset * root.dtype.itemsize, count * root.dtype.itemsize
            found = self._views[key] = TypedStorage._over(root.untyped()[start : start + size], root.dtype)
        return found

    def fill(self, key: Any, stream: BinaryIO) -> None:
        """Read the elements of one storage."""
        if key not in self._typed:
            raise AssertionError(f"storage key {key!r} not found in deserialized_objects")
        typed = self._typed[key]
        (count,) = struct.unpack("<q", read_exactly(stream, 8))
        target, expected = typed.untyped(), typed.nbytes()
        if count * typed.dtype.itemsize != expected:
            raise RuntimeError(f"storage has wrong byte size: expected {expected} got {count * typed.dtype.itemsize}")
        if target.device.type == "meta":
            stream.seek(expected, 1)
            return
        data = UntypedStorage._from_buffer(np.frombuffer(read_exactly(stream, expected), np.uint8).copy())
        if sys.byteorder == "big":
            data.byteswap(typed.dtype)
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


def _bytes_left(stream: BinaryIO) -> int:
    here = stream.tell()
    end = stream.seek(0, 2)
    stream.seek(here)
    return end - here


def is_tar(stream: BinaryIO) -> bool:
    """Whether a tar archive begins at the stream's position."""
    here = stream.tell()
    start = stream.read(_TAR_MAGIC_PLACE + len(_TAR_MAGIC))
    stream.seek(here)
    return start[_TAR_MAGIC_PLACE:] == _TAR_MAGIC


def read_legacy(stream: BinaryIO, map_location: Any, make_unpickler: Callable[[BinaryIO], Any]) -> Any:
    """Read a file of the older format from the stream's position on."""
    if make_unpickler(stream).load() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = make_unpickler(stream).load()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    make_unpickler(stream).load()
    table = _StorageTable(map_location, _bytes_left(stream))
    unpickler = make_unpickler(stream)
    unpickler.persistent_load = table
    before, thread_state.after_data = thread_state.after_data, []
    try:
        result = unpickler.load()
        keys = make_unpickler(stream).load()
        if not thread_state.skip_data:
            for key in keys:
                table.fill(key, stream)
        for action in thread_state.after_data:
            action()
    finally:
        thread_state.after_data = before
    return result
