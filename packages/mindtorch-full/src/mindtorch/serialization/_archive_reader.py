"""Reads the zip layout of torch checkpoints, checking every record that is read.

Stricter than torch, which trusts tensor data: a wrong checksum or a short record is an error that names the record.
"""

from __future__ import annotations

import os
import struct
import zlib
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mindtorch.serialization._budget import UNLIMITED, Budget
from mindtorch_cpu.checksum import crc32
from mindtorch_cpu.host_memory import populate, written_once

_LIMIT16, _LIMIT32 = 0xFFFF, 0xFFFFFFFF
_LOCAL_HEADER = struct.Struct("<IHHHHHIIIHH")
_CENTRAL_HEADER = struct.Struct("<IHHHHHHIIIHHHHHII")
_END = struct.Struct("<IHHHHIIH")
_END64 = struct.Struct("<IQHHIIQQQQ")
_STORED, _DEFLATED = 0, 8
_DEFLATE_RATIO = 1032  # what the format can expand to at most
_MINIZ_TEXT = (
    ". This is an internal miniz error. If you are seeing this error, there is a high likelihood that your checkpoint "
    "file is corrupted. This can happen if the checkpoint was not saved properly, was transferred incorrectly, or the "
    "file was modified after saving."
)
_ENFORCE = "[enforce fail at inline_container.cc"  # torch names the place of its check in some texts
_ENTRY_COST = 256  # bytes of memory that a name in the directory takes, beside the directory itself
_PIECE = 1 << 18  # what was just read is still in the processor's cache when its checksum is computed
_OLDEST_VERSION, _NEWEST_VERSION = 1, 10


def _damaged(what: str, why: str) -> RuntimeError:
    return RuntimeError(f"PytorchStreamReader failed {what}: {why}{_MINIZ_TEXT}")


class _Entry(NamedTuple):
    full_name: bytes
    header_offset: int
    size: int
    stored_size: int
    checksum: int
    method: int
    flags: int


class ArchiveReader:
    """Random access to the records of an archive that begins at the stream's position."""

    def __init__(self, stream: BinaryIO, budget: Budget = UNLIMITED) -> None:
        self._stream = stream
        self._budget = budget
        self._base = stream.tell()
        self._length = stream.seek(0, os.SEEK_END) - self._base
        self._folder = b""
        self._directory = b""
        self._last: tuple[str | None, Any] = (None, None)
        self._entries = self._read_directory()
        self._check_version()

    def _read_at(self, offset: int, size: int) -> bytes:
        if offset < 0 or offset + size > self._length:
            return b""
        self._stream.seek(self._base + offset)
        return self._stream.read(size)

    def _find_directory(self) -> tuple[int, int, int]:
        problem = "reading zip archive"
        if self._length < _END.size:
            raise _damaged(problem, "not a ZIP archive")
        tail_size = min(self._length, _END.size + _LIMIT16)
        tail = self._read_at(self._length - tail_size, tail_size)
        found = tail.rfind(b"PK\x05\x06", 0, len(tail) - _END.size + 4)
        if found < 0:
            raise _damaged(problem, "failed finding central directory")
        _, disk, start_disk, count_here, count, size, offset, _ = _END.unpack_from(tail, found)
        end = self._length - tail_size + found
        locator = self._read_at(end - 20, 20)
        if len(locator) == 20 and locator.startswith(b"PK\x06\x07"):
            end64 = self._read_at(struct.unpack("<IIQI", locator)[2], _END64.size)
            if len(end64) == _END64.size and end64.startswith(b"PK\x06\x06"):
                _, _, _, _, disk, start_disk, count_here, count, size, offset = _END64.unpack(end64)
        if disk or start_disk or count_here != count:
            raise _damaged(problem, "unsupported multidisk archive")
        if offset + size > self._length or count * _CENTRAL_HEADER.size > size:
            raise _damaged(problem, "invalid header or archive is corrupted")
        return count, size, offset

    def _read_directory(self) -> dict[str, int]:
        """The names of all records without the folder that they are in, and where in the directory each stands."""
        count, size, offset = self._find_directory()
        self._budget.take(size + count * _ENTRY_COST)
        data = self._directory = self._read_at(offset, size)
        entries: dict[str, int] = {}
        position = 0
        for number in range(count):
            if position + _CENTRAL_HEADER.size > len(data) or data[position : position + 4] != b"PK\x01\x02":
                raise _damaged("reading zip archive", "invalid header or archive is corrupted")
            name_size, extra_size, comment_size = struct.unpack_from("<HHH", data, position + 28)
            name_start = position + _CENTRAL_HEADER.size
            name = self._inside_folder(data[name_start : name_start + name_size], first=number == 0)
            if name in entries:  # others who read the file, to check it, might see the other one
                raise _damaged("reading zip archive", "invalid header or archive is corrupted")
            entries[name] = position
            position = name_start + name_size + extra_size + comment_size
        return entries

    def _inside_folder(self, full_name: bytes, *, first: bool) -> str:
        folder, slash, name = full_name.partition(b"/")
        if first:
            self._folder = folder + slash
        if not slash or folder + slash != self._folder:
            where = "a subdirectory" if first else f"a subdirectory {self._folder.decode('utf-8', 'replace')}"
            raise RuntimeError(f"file in archive is not in {where}: {full_name.decode('utf-8', 'replace')}")
        return name.decode("utf-8", "replace")

    def _check_version(self) -> None:
        name = "version" if self.has_record("version") else ".data/version"
        if not self.has_record(name):
            raise RuntimeError(
                'Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If '
                "so, please report an enhancement request to PyTorch.)"
            )
        text = self.get_record(name).decode("utf-8", "replace")
        try:
            version = int(text)
        except ValueError:
            raise RuntimeError(f"{_ENFORCE}:215] . Couldn't parse the version {text} as Long Long.") from None
        if version < _OLDEST_VERSION:
            raise RuntimeError(
                f"{_ENFORCE}:219] . Attempted to read a PyTorch file with version {version}, but the minimum supported "
                f"version for reading is {_OLDEST_VERSION}. Your PyTorch script module file is too old. Please "
                "regenerate it with latest version of PyTorch to mitigate this issue."
            )
        if version > _NEWEST_VERSION:
            raise RuntimeError(
                f"{_ENFORCE}:230] . Attempted to read a PyTorch file with version {version}, but the maximum supported "
                f"version for reading is {_NEWEST_VERSION}. The version of your PyTorch installation may be too old, please "
                "upgrade PyTorch to latest version to mitigate this issue."
            )

    def has_record(self, name: str) -> bool:
        """Whether the archive has this record."""
        return name in self._entries

    def get_all_records(self) -> list[str]:
        """The names of all records."""
        return list(self._entries)

    def _entry_of(self, name: str) -> _Entry:
        if name == self._last[0]:  # each record is asked about several times in a row
            return self._last[1]
        position = self._entries.get(name)
        if position is None:
            raise _damaged(f"locating file {name}", "file not found")
        entry = _entry(self._directory, position)
        if entry.flags & 1:
            raise _damaged(f"retrieving file meta-data for {name}", "unsupported encryption")
        if entry.method not in (_STORED, _DEFLATED):
            raise _damaged(f"retrieving file meta-data for {name}", "unsupported method")
        # Before anything is allocated: a record is as long as the file shows, or as deflate can make it.
        most = entry.stored_size if entry.method == _STORED else entry.stored_size * _DEFLATE_RATIO
        if entry.stored_size > self._length or entry.size > most:
            raise _damaged(f"retrieving file meta-data for {name}", "invalid header or archive is corrupted")
        self._last = name, entry
        return entry

    def record_size(self, name: str) -> int:
        """The length of a record's content."""
        return self._entry_of(name).size

    def is_stored(self, name: str) -> bool:
        """Whether the record's bytes lie in the file as they are."""
        return self._entry_of(name).method == _STORED

    def record_offset(self, name: str) -> int:
        """Where the record's bytes begin, from the start of the archive."""
        entry = self._entry_of(name)
        header = self._read_at(entry.header_offset, _LOCAL_HEADER.size + len(entry.full_name))
        if not header.startswith(b"PK\x03\x04") or header[_LOCAL_HEADER.size :] != entry.full_name:
            raise _damaged(f"reading file {name}", "invalid header or archive is corrupted")
        name_size, extra_size = _LOCAL_HEADER.unpack_from(header)[9:11]
        offset: int = entry.header_offset + _LOCAL_HEADER.size + name_size + extra_size
        if offset + entry.stored_size > self._length:
            raise _damaged(f"reading file {name}", "invalid header or archive is corrupted")
        return offset

    def header_offset(self, name: str) -> int:
        """Where the record's own header begins, from the start of the archive."""
        return self._entry_of(name).header_offset

    def get_record(self, name: str) -> bytes:
        """A record's content, checked."""
        size = self.record_size(name)
        self._budget.take(2 * size)
        content = np.empty(size, np.uint8)
        self.read_into(name, content)
        return content.tobytes()

    def read_into(self, name: str, target: np.ndarray[Any, Any]) -> None:
        """Read a record's content into a uint8 array of its length, and check it."""
        entry = self._entry_of(name)
        self._stream.seek(self._base + self.record_offset(name))
        if entry.method == _STORED:
            with written_once(target):
                checksum = _fill(self._stream, target) if entry.stored_size == entry.size else None
            if checksum is None:
                raise _damaged(f"reading file {name}", "file read failed")
        else:
            checksum = _inflate(self._stream, entry.stored_size, target)
            if checksum is None:
                raise _damaged(f"reading file {name}", "decompression failed or archive is corrupted")
        # Zero stands for a checksum that was left out, as where room for data was saved without it.
        if entry.checksum and entry.checksum != checksum:
            raise _damaged(f"reading file {name}", "CRC-32 check failed")


def _entry(directory: bytes, position: int) -> _Entry:
    header = _CENTRAL_HEADER.unpack_from(directory, position)
    name_size, extra_size = header[10:12]
    name_start = position + _CENTRAL_HEADER.size
    full_name = directory[name_start : name_start + name_size]
    wide = _zip64_fields(directory[name_start + name_size : name_start + name_size + extra_size])
    flags, method = header[3], header[4]
    checksum, stored_size, size, offset = header[7], header[8], header[9], header[16]
    if size == _LIMIT32 and wide:
        size = wide.pop(0)
    if stored_size == _LIMIT32 and wide:
        stored_size = wide.pop(0)
    if offset == _LIMIT32 and wide:
        offset = wide.pop(0)
    return _Entry(full_name, offset, size, stored_size, checksum, method, flags)


def _zip64_fields(extra: bytes) -> list[int]:
    position = 0
    while position + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, position)
        if kind == 1:
            body = extra[position + 4 : position + 4 + size]
            return list(struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8]))
        position += 4 + size
    return []


def _fill(stream: BinaryIO, target: np.ndarray[Any, Any]) -> int | None:
    """Read into all of `target`; returns the checksum of what came, None when the stream ends before."""
    view, checksum = target.data, 0
    while len(view):
        piece = view[:_PIECE]
        populate(piece)
        if hasattr(stream, "readinto"):
            count = stream.readinto(piece)
        else:
            data = stream.read(len(piece))
            count = len(data)
            piece[:count] = data
        if not count:
            return None
        checksum = crc32(piece[:count], checksum)
        view = view[count:]
    return checksum


def _inflate(stream: BinaryIO, stored_size: int, target: np.ndarray[Any, Any]) -> int | None:
    """Fill `target` with what the next `stored_size` bytes expand to; returns its checksum, None when it is not that."""
    view, checksum, machine = target.data, 0, zlib.decompressobj(-15)
    pending, left = b"", stored_size
    try:
        while not machine.eof:
            if not pending:
                pending = stream.read(min(left, _PIECE))
                left -= len(pending)
                if not pending:
                    return None
            # One byte more than announced shows a record that lies about its length.
            content = machine.decompress(pending, min(_PIECE, len(view) + 1))
            if len(content) > len(view):
                return None
            pending = machine.unconsumed_tail
            view[: len(content)] = content
            checksum, view = crc32(content, checksum), view[len(content) :]
    except zlib.error:
        return None
    return None if len(view) else checksum
