"""Reads the format of torch 0.1: a tar archive of storages, tensors over them, and the pickle that names the tensors."""

from __future__ import annotations

import contextlib
import os
import struct
import sys
import tarfile
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

from mindtorch.serialization._legacy_loading import check_source, read_exactly
from mindtorch.serialization._locations import restorer
from mindtorch.tensor.pickling import tensor_over
from mindtorch_storage.storage import TypedStorage, UntypedStorage

_LARGEST_DIM = 64  # what torch allows; a damaged file may say anything


def read_tar(stream: BinaryIO, map_location: Any, make_unpickler: Callable[[BinaryIO], Any]) -> Any:
    """Read an archive; KeyError when a part is missing, RuntimeError when one is too short."""
    with contextlib.closing(tarfile.open(fileobj=stream, mode="r:")) as archive:
        reader = _Reader(archive, map_location, make_unpickler)
        reader.read_storages()
        reader.read_tensors()
        return reader.read_object()


class _Reader:
    def __init__(self, archive: tarfile.TarFile, map_location: Any, make_unpickler: Callable[[BinaryIO], Any]) -> None:
        self._archive = archive
        self._restore = restorer(map_location)
        self._make_unpickler = make_unpickler
        self._found: dict[Any, Any] = {}

    def _open(self, name: str) -> Any:
        part = self._archive.extractfile(name)
        if part is None:
            raise RuntimeError(f"{name} of this archive is not a file")
        return part

    def read_storages(self) -> None:
        """The elements, then which storages are parts of others."""
        with self._open("storages") as part:
            end = self._archive.getmember("storages").size
            for _ in range(self._make_unpickler(part).load()):
                key, location, kind = self._make_unpickler(part).load()
                (count,) = struct.unpack("<q", read_exactly(part, 8))
                nbytes = count * kind.dtype.itemsize
                missing = nbytes - (end - part.tell())
                if count < 0 or missing > 0:
                    raise RuntimeError(f"unexpected EOF, expected {missing} more bytes. The file might be corrupted.")
                content = np.frombuffer(read_exactly(part, nbytes), np.uint8).copy()
                storage = UntypedStorage._from_buffer(content)
                if sys.byteorder == "big":
                    storage.byteswap(kind.dtype)
                self._found[key] = TypedStorage._over(self._restore(storage, location), kind.dtype)
            for key, root_key, offset, count in self._make_unpickler(part).load():
                root = self._found[root_key]
                start = offset * root.dtype.itemsize
                piece = root.untyped()[start : start + count * root.dtype.itemsize]
                self._found[key] = TypedStorage._over(piece, root.dtype)

    def read_tensors(self) -> None:
        """Geometries over the storages."""
        with self._open("tensors") as part:
            for _ in range(self._make_unpickler(part).load()):
                key, storage_key, _ = self._make_unpickler(part).load()
                storage = self._found[storage_key]
                ndim, _ = struct.unpack("<ii", read_exactly(part, 8))  # what follows the count is padding
                if not 0 <= ndim <= _LARGEST_DIM:
                    raise RuntimeError(f"a tensor of {ndim} dimensions. The file might be corrupted.")
                size = struct.unpack(f"<{ndim}q", read_exactly(part, 8 * ndim))
                stride = struct.unpack(f"<{ndim}q", read_exactly(part, 8 * ndim))
                (offset,) = struct.unpack("<q", read_exactly(part, 8))
                self._found[key] = tensor_over(storage.untyped(), storage.dtype, offset, size, stride)

    def read_object(self) -> Any:
        """What was saved."""
        with self._open("pickle") as part:
            part.seek(0, os.SEEK_SET)
            unpickler = self._make_unpickler(part)
            unpickler.persistent_load = self._resolve
            return unpickler.load()

    def _resolve(self, saved_id: Any) -> Any:
        if not isinstance(saved_id, tuple):
            return self._found[int(saved_id)]
        if all(saved_id[1:]):
            check_source(saved_id[0], saved_id[2])
        return saved_id[0]
