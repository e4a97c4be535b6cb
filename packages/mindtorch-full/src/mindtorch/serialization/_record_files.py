"""Archives record by record, for programs that write or read their own: `_open_zipfile_writer` and its like."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, BinaryIO

from mindtorch.serialization import _files
from mindtorch.serialization._archive_reader import ArchiveReader
from mindtorch.serialization._archive_writer import ArchiveWriter
from mindtorch.serialization._loading import is_archive

_is_zipfile = is_archive


@contextlib.contextmanager
def _open_file_like(name_or_buffer: Any, mode: str) -> Iterator[BinaryIO]:
    """A binary stream over a path, which is closed after the block, or the file object that is given."""
    if _files.is_path(name_or_buffer):
        with open(name_or_buffer, mode) as stream:
            yield stream
    else:
        yield name_or_buffer
        if "w" in mode:
            name_or_buffer.flush()


class _RecordWriter:
    """Adds records to an archive."""

    def __init__(self, stream: BinaryIO, archive_name: str) -> None:
        self._writer = ArchiveWriter(stream, archive_name)

    def write_record(self, name: str, data: bytes | str | memoryview, size: int) -> None:
        """Add a record of the first `size` bytes of `data`."""
        given = data.encode() if isinstance(data, str) else data
        self._writer.write_record(name, memoryview(given).cast("B")[:size])

    def write_record_metadata(self, name: str, size: int) -> None:
        """Add a record with room for `size` bytes."""
        self._writer.write_empty_record(name, size)

    def write_end_of_file(self) -> None:
        """Write the directory, after which no record can be added."""
        self._writer.finish()


class _RecordReader:
    """Reads records of an archive."""

    def __init__(self, stream: BinaryIO) -> None:
        self._archive = ArchiveReader(stream)
        self.has_record = self._archive.has_record
        self.get_record = self._archive.get_record
        self.get_record_offset = self._archive.record_offset
        self.get_all_records = self._archive.get_all_records


@contextlib.contextmanager
def _open_zipfile_writer(name_or_buffer: Any) -> Iterator[_RecordWriter]:
    """A writer of records to a path or a file object; the archive is complete after the block."""
    if not _files.is_path(name_or_buffer):
        writer = _RecordWriter(name_or_buffer, "archive")
        yield writer
        writer.write_end_of_file()
        name_or_buffer.flush()
        return
    with _files.replaced_file(name_or_buffer) as stream:
        writer = _RecordWriter(stream, PurePath(os.fsdecode(name_or_buffer)).stem)
        yield writer
        writer.write_end_of_file()


@contextlib.contextmanager
def _open_zipfile_reader(name_or_buffer: Any) -> Iterator[_RecordReader]:
    """A reader of the records of a path or a file object."""
    with _files.opened_for_reading(name_or_buffer) as stream:
        yield _RecordReader(stream)
