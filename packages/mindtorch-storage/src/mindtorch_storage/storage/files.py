"""Storages in files of their own: a count of elements, in eight bytes, and the elements."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import BinaryIO

    from mindtorch_storage.storage.untyped import UntypedStorage

_COUNT = 8


def _written(file: BinaryIO, content: bytes, is_real_file: bool) -> None:
    if is_real_file:
        file.flush()
        os.write(file.fileno(), content)
    else:
        file.write(content)


def _read(file: BinaryIO, nbytes: int, is_real_file: bool) -> bytes:
    content: bytes = os.read(file.fileno(), nbytes) if is_real_file else file.read(nbytes)
    if len(content) < nbytes:
        raise RuntimeError(f"unexpected EOF, expected {nbytes - len(content)} more bytes. The file might be corrupted.")
    return content


def _require_descriptor(file: BinaryIO, function: str) -> None:
    if not hasattr(file, "fileno"):
        raise RuntimeError(f"{function} couldn't retrieve a file descriptor from given object")


class FileMethods:
    """How a storage is written to a file by itself, and read from one."""

    __slots__ = ()

    def _write_file(  # type: ignore[misc]  # a mixin of that class alone
        self: UntypedStorage, file: BinaryIO, is_real_file: bool, save_size: bool, element_size: int
    ) -> None:
        """Write the bytes, after the count of elements if that is asked for; from the place on where the file is."""
        if self.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        content: bytes = self.host_bytes().tobytes()
        if save_size:
            content = (len(content) // element_size).to_bytes(_COUNT, "little") + content
        _written(file, content, is_real_file)

    @classmethod
    def _new_with_file(cls: type[UntypedStorage], file: BinaryIO, element_size: int) -> UntypedStorage:  # type: ignore[misc]  # a mixin of that class alone
        """A storage of what `_write_file` wrote, the count included."""
        _require_descriptor(file, "_new_with_file")
        count = int.from_bytes(_read(file, _COUNT, True), "little", signed=True)
        new = cls(count * element_size)
        new.buffer[:] = np.frombuffer(_read(file, count * element_size, True), np.uint8)
        return new

    def _set_from_file(  # type: ignore[misc]  # a mixin of that class alone
        self: UntypedStorage, file: BinaryIO, offset: int | None, is_real_file: bool, element_size: int
    ) -> UntypedStorage:
        """Overwrite the bytes with those in a file, from `offset` on or from where it is; the counts must agree."""
        if is_real_file:
            _require_descriptor(file, "_set_from_file")
        if offset is not None and not is_real_file:
            raise RuntimeError("_set_from_file: offset is NYI for filelike objects")
        if offset is not None:
            file.seek(offset)
        count = int.from_bytes(_read(file, _COUNT, is_real_file), "little", signed=True)
        if count * element_size != self.nbytes():
            raise RuntimeError(
                f"storage has wrong byte size: expected %ld got %ld{count * element_size}{self.nbytes()}"
            )
        content = np.frombuffer(_read(file, count * element_size, is_real_file), np.uint8)
        with self._changed() as raw:
            raw[:] = content
        return self
