"""`torch.PyTorchFileWriter`: writes an archive record by record, for programs with a layout of their own."""

from __future__ import annotations

import os
import sys
from typing import Any

from mindtorch.serialization._archive_writer import ArchiveWriter
from mindtorch.serialization._saving import archive_name, check_folder
from mindtorch_storage.storage import UntypedStorage


class PyTorchFileWriter:
    """Adds records to a file, by path, or to a stream with `write`. The file can be read after `write_end_of_file`.

    >>> import io
    >>> file = io.BytesIO()
    >>> writer = torch._C.PyTorchFileWriter(file)
    >>> writer.write_record("note", b"hello", 5)
    >>> writer.write_end_of_file()
    >>> _ = file.seek(0)
    >>> torch.PyTorchFileReader(file).get_record("note")
    b'hello'
    """

    def __init__(self, file: Any, compute_crc32: bool = True, storage_alignment: int = 64) -> None:
        self._own: Any = None
        self._name = "archive"
        if isinstance(file, (str, os.PathLike)):
            path = os.fsdecode(file)
            self._name = archive_name(path)
            check_folder(path)
            file = self._own = open(path, "wb")  # noqa: SIM115 (closed with the last record)
        self._archive = ArchiveWriter(file, self._name, alignment=storage_alignment, checksums=compute_crc32)
        self._done = False

    def set_min_version(self, version: int) -> None:
        """Say the oldest version of the format that a reader must know."""
        self._archive.version = max(self._archive.version, version)

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Add a record of the first `size` bytes of text, bytes or a storage."""
        given = data.encode() if isinstance(data, str) else data
        view = memoryview(given.host_bytes() if isinstance(given, UntypedStorage) else given)
        self._archive.write_record(name, view.cast("B")[:size])

    def write_record_metadata(self, name: str, size: int) -> None:
        """Add a record with room for `size` bytes."""
        self._archive.write_empty_record(name, size)

    def write_end_of_file(self) -> None:
        """Write the directory, after which no record can be added."""
        if self._done:
            return
        self._done = True
        if "byteorder" not in self._archive.names():
            self.write_record("byteorder", sys.byteorder, len(sys.byteorder))
        self._archive.finish()
        if self._own is not None:
            self._own.close()

    def get_all_written_records(self) -> set[str]:
        """Return the names of the records that are written."""
        return self._archive.names()

    def archive_name(self) -> str:
        """Return the name of the folder that the records are in."""
        return self._name

    def serialization_id(self) -> str:
        """Return the digits that stand for the archive's content."""
        return self._archive.serialization_id().decode()


PyTorchFileWriter.__module__ = "torch"
